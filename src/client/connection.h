#pragma once
// client/connection.h - one request to a Belay server and its answer, or the sentence that says
// what to do about a server that gives none.
//
// Threading: one executor. Destroying a task ends its exchange.

#include "belay/value.h"
#include "client/server_address.h"
#include "net/http_client.h"

namespace belay::client {

struct ConnectionOptions {
  std::string token{};  // a bearer token; empty: none. It is never shown.
  // How long one that has answered before is waited for when it does not any more: it may be being
  // started again.
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
  // The client outlives the connection.
  Connection(net::HttpClient& client, ServerAddress address, ConnectionOptions options)
      : client_(client), address_(std::move(address)), options_(std::move(options)) {}

  // One exchange: any answer of a Belay server, errors too. `unavailable`: there is none, or it has
  // gone before it answered; whether it has done what was asked is not known then. `invalid`: what
  // answers is none, or of another version.
  Task<Result<Reply>> ask(Ask ask);

  // What was asked for: an answer that tells an error is that Error. One exchange.
  Task<Result<Value>> ask_for(Ask wanted);
  // The same, for what may be asked again: a server that has answered before is waited for.
  Task<Result<Value>> ask_again_for(Ask wanted);

  // An answer of events; an error where the server gives another one.
  Task<Result<net::HttpAnswer>> ask_for_events(std::string target, std::string last_event);

  // The document of an answer, or the Error that it tells.
  Result<Value> document_of(Reply reply) const;
  // What was read of a document; `invalid`, naming the server, for one that does not fit.
  template <typename T>
  Result<T> fitting(Result<T> read) const {
    if (read.ok()) return read;
    return unreadable(read.error().message);
  }

  // Whether it has answered at all since this process began.
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

// Whether the Error is of an exchange that broke, or of a server that is just going or coming: the
// same may come out well a little later.
bool may_come_back(const Result<Reply>& answer);

// Waits between tries, each time longer, until its time is over.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds whole) : left_(whole) {}
  // False, at once, when it is over.
  Task<bool> wait();
  void renew(std::chrono::milliseconds whole);

 private:
  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kMost{2'000};

  std::chrono::milliseconds left_;
  std::chrono::milliseconds next_ = kFirst;
};

}  // namespace belay::client
