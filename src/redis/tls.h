#pragma once
// redis/tls.h - TLS to a Redis: whom we believe, and a session.
//
// A session has no socket: what has come is fed to it, what is to go out is taken from it. So
// nothing in here waits, a piece of any size will do in either direction, and nothing that has
// come lies where poll() does not see it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "belay/result.h"

// OpenSSL's, whose headers tls.cc alone includes.
struct ssl_ctx_st;
struct ssl_st;

namespace belay::redis {

class TlsTrust {
 public:
  // Believes those whose certificates stand in `ca_file`, in PEM; empty: those that the system
  // believes. `invalid` for a file that can't be used.
  static Result<TlsTrust> load(const std::string& ca_file);

 private:
  friend class TlsSession;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::string ca_file_;
};

// An error of a session is a clause: what is wrong with the other side; what to do about it. Once
// there is one, it is the answer to everything.
class TlsSession {
 public:
  // With `host`, a name or an address, which has to stand in the other side's certificate.
  static Result<TlsSession> begin(const TlsTrust& trust, const std::string& host);

  // Kept until we know whom we say it to.
  void send(std::string_view plain) { unsaid_ += plain; }
  // What is to go out now: of the handshake, or of what was sent.
  Result<std::string> take_out();

  void feed(std::string_view came);
  // What the other side has said, as far as it has come; "" where nothing has.
  Result<std::string> take_in();

  // Whether the handshake is done, and the other side is who it should be. REQUIRES: !has_failed().
  bool is_established() const;
  bool has_failed() const { return failure_.has_value(); }
  // For the end of the connection: that nothing more comes, or why not.
  std::string last_words();

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };

  TlsSession() = default;
  void look_at(int outcome);
  Error why_it_failed() const;
  Error why_not_believed(long verdict) const;
  std::string drained();

  std::unique_ptr<ssl_st, Free> session_;
  std::string host_;
  std::string ca_file_;
  std::string unsaid_;
  bool has_heard_ = false;
  std::optional<Error> failure_;
};

}  // namespace belay::redis
