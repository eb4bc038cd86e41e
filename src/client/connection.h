#pragma once
// client/connection.h - Connection: sends requests to one Belay server and returns its responses,
// or an Error with a remedy if no response arrives.
//
// Threading: one executor. Destroying a coroutine ends its exchange.

#include "belay/value.h"
#include "client/server_address.h"
#include "net/http_client.h"

namespace belay::client {

struct ConnectionOptions {
  std::string token{};  // bearer token; empty: none; never shown
  // Maximum time to wait for a server that has responded before and is now unavailable: it might be
  // restarting.
  std::chrono::milliseconds patience{60'000};
};

struct Ask {
  std::string method = "GET";
  std::string target{};
  Value body{};  // null: none
  std::vector<net::HttpHeader> headers{};
  std::chrono::milliseconds first_byte{120'000};
};

struct Reply {
  int status = 0;
  Value document;
  std::chrono::milliseconds retry_after{0};
};

class Connection {
 public:
  // The client must outlive the connection.
  Connection(net::HttpClient& client, ServerAddress address, ConnectionOptions options)
      : client_(client), address_(std::move(address)), options_(std::move(options)) {}

  // Performs one exchange. Returns any response of a Belay server, including errors. `unavailable`:
  // there is no server, or it failed before it responded; the request might have been executed.
  // `invalid`: the responder is not a Belay server, or has another version.
  Task<Result<Reply>> ask(Ask ask);

  // The same, but returns the document; if the response contains an error, returns that Error.
  Task<Result<Value>> ask_for(Ask wanted);
  // The same, for requests that may be repeated: retries while a server that has responded before
  // is unavailable.
  Task<Result<Value>> ask_again_for(Ask wanted);

  // Returns a response that streams events; fails if the server responds with anything else.
  Task<Result<net::HttpAnswer>> ask_for_events(std::string target, std::string last_event);

  // Returns the document of a response, or the Error that it contains.
  Result<Value> document_of(Reply reply) const;
  // Returns `read` if it succeeded; otherwise fails with `invalid`, naming the server.
  template <typename T>
  Result<T> fitting(Result<T> read) const {
    if (read.ok()) return read;
    return unreadable(read.error().message);
  }

  // True if the server has responded since this process started.
  bool has_answered() const { return has_answered_; }
  const ConnectionOptions& options() const { return options_; }
  const std::string& base() const { return address_.base; }

 private:
  net::HttpRequest request_of(const Ask& ask) const;
  Error gone(const Error& failed) const;
  Error unreadable(std::string_view why) const;

  net::HttpClient& client_;
  const ServerAddress address_;
  const ConnectionOptions options_;
  bool has_answered_ = false;
};

// True if the exchange broke, or the server is starting or shutting down: the same request might
// succeed shortly afterwards.
bool may_come_back(const Result<Reply>& answer);

// A backoff with a maximum total time.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds whole) : left_(whole) {}
  // Waits for the next delay. Returns false immediately when the total time is used.
  Task<bool> wait();
  void renew(std::chrono::milliseconds whole);

 private:
  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kMost{2'000};

  std::chrono::milliseconds left_;
  std::chrono::milliseconds next_ = kFirst;
};

}  // namespace belay::client
