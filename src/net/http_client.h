#pragma once
// net/http_client.h - HttpClient: performs HTTP exchanges: sends a request, and returns the head
// and the body of the response as they arrive.
//
// Uses libcurl, on one thread for all exchanges, for TLS, proxies, decompression and the reuse of
// connections. Follows no redirects (a key could reach another server), and supports only http and
// https.
//
// Threading: begin() and read() on any executor; the awaiting one resumes. Destroying a waiting
// coroutine, or the HttpAnswer, ends the exchange: its connection is closed.
//
// Errors: `invalid` for a URL, a certificate or a proxy for which a retry would fail as well;
// `forbidden` if HttpClientOptions::may_connect refused an address;
// `exhausted` if a response exceeds its limits; otherwise `unavailable`: no connection, a timeout,
// a response that is cut off. The message names the host, never a header's value or a query.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/http.h"
#include "belay/task.h"
#include "net/ip_address.h"

namespace belay::net {

using belay::HttpHeader;

// Each has its own start; zero: unlimited.
struct HttpTimeouts {
  std::chrono::milliseconds connect{5'000};       // until connected, including TLS
  std::chrono::milliseconds first_byte{120'000};  // from there to the head of the response
  std::chrono::milliseconds idle{60'000};         // between two pieces of the body
  std::chrono::milliseconds total{0};             // for the whole exchange
};

struct HttpLimits {
  std::size_t head_bytes = 64 * 1024;
  std::size_t body_bytes = 16 * 1024 * 1024;  // after decompression
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
  // A PEM file of certificates to trust instead of the system's; empty: the system's.
  std::string trusted_certificates{};
  // "http://HOST:PORT" or similar; unset: the environment's (https_proxy, no_proxy, ...); "": none.
  std::optional<std::string> proxy{};
  // Maximum number of connections kept open for later requests.
  int idle_connections = 16;
  // Decides on each address before a connection to it is opened; null: every address is permitted.
  // An exchange that needed a refused address fails with `forbidden`. With it, `proxy` is "".
  std::function<bool(const IpAddress&)> may_connect{};
  // For tests: returns the comma-separated addresses of a host, instead of the name service; ""
  // asks the name service.
  std::function<std::string(const std::string& host)> resolve{};
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
  // Returns the first header with the name, ignoring case; otherwise "".
  std::string_view header(std::string_view name) const;
  const std::vector<HttpHeader>& headers() const;

  // Returns the next piece of the body; "" at its end. One read at a time. Without reads, the
  // transfer is paused when a megabyte is buffered.
  Task<Result<std::string>> read();
  // Returns the rest of the body.
  Task<Result<std::string>> read_all();

  // Discards the rest of the body. If it ends within a second, the connection can be reused.
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
  // Ends exchanges in progress: their callers get `cancelled`.
  ~HttpClient();

  // Sends the request, and waits for the head of the response, with any status.
  Task<Result<HttpAnswer>> begin(HttpRequest request);

 private:
  std::shared_ptr<HttpThread> thread_;
};

// Returns the delay that a response of status 429 or 503 requests: its Retry-After in seconds or as
// a date, at most ten minutes; nullopt if it cannot be parsed.
std::optional<std::chrono::milliseconds> retry_after(std::string_view header, Instant now);

}  // namespace belay::net
