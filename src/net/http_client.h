#pragma once
// net/http_client.h - one HTTP exchange at a time: a request, its answer's head, and its body as it
// comes.
//
// Over libcurl, on one thread of its own for all exchanges, so that TLS, proxies, decompression and
// the reuse of connections are what everybody else's are. It follows no redirect (a key would go to
// whom it is not meant for) and speaks to http and https alone.
//
// Threading: begin() and read() on any executor; the one that awaits is the one that resumes.
// Destroying a Task that waits, or the HttpAnswer, ends the exchange: its connection is closed.
//
// Errors: `invalid` for a URL, a certificate or a proxy that no repetition makes good; `exhausted`
// for an answer beyond its limits; `unavailable` for the rest: no connection, a time-out, an answer
// that ends before its end. The sentence names the host, never a header's value, nor a query.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/task.h"

namespace belay::net {

struct HttpHeader {
  std::string name;
  std::string value;
};

// Each counts from its own beginning; zero means no bound.
struct HttpTimeouts {
  std::chrono::milliseconds connect{5'000};       // until a connection stands, with TLS
  std::chrono::milliseconds first_byte{120'000};  // from there to the head of the answer
  std::chrono::milliseconds idle{60'000};         // between two pieces of the body
  std::chrono::milliseconds total{0};             // of the whole exchange
};

struct HttpLimits {
  std::size_t head_bytes = 64 * 1024;
  std::size_t body_bytes = 16 * 1024 * 1024;  // once decompressed
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<HttpHeader> headers{};
  std::string body{};
  HttpTimeouts timeouts{};
  HttpLimits limits{};
};

struct HttpClientOptions {
  // A file of certificates in PEM to trust in place of the system's; empty: the system's.
  std::string trusted_certificates{};
  // "http://HOST:PORT" and the like; unset: what the environment says (https_proxy, no_proxy, ...);
  // "" for none.
  std::optional<std::string> proxy{};
  // Connections kept open for the next request.
  int idle_connections = 16;
};

class HttpThread;
class Exchange;

class HttpAnswer {
 public:
  explicit HttpAnswer(std::shared_ptr<Exchange> exchange);
  HttpAnswer(HttpAnswer&&) noexcept;
  HttpAnswer& operator=(HttpAnswer&&) noexcept;
  ~HttpAnswer();

  int status() const;
  // The first of that name, whatever its case; "" where there is none.
  std::string_view header(std::string_view name) const;

  // The next piece of the body, of some bytes; "" at its end. One read at a time. Where nobody
  // reads, the other side is kept waiting once a megabyte is held.
  Task<Result<std::string>> read();
  // The rest of the body.
  Task<Result<std::string>> read_all();

  // All is read that is of use: where the body ends within a second, its connection is used again.
  void leave() &&;

 private:
  std::shared_ptr<Exchange> exchange_;
};

class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> open(HttpClientOptions options = {});
  explicit HttpClient(std::shared_ptr<HttpThread> thread);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  // Ends what is under way: whoever waits is told `cancelled`.
  ~HttpClient();

  // Sends the request, and waits for the head of the answer, whatever its status.
  Task<Result<HttpAnswer>> begin(HttpRequest request);

 private:
  std::shared_ptr<HttpThread> thread_;
};

// How long an answer of status 429 or 503 asks to wait: its Retry-After in seconds or as a date,
// bounded to ten minutes; unset where it says nothing that can be read.
std::optional<std::chrono::milliseconds> retry_after(std::string_view header, Instant now);

}  // namespace belay::net
