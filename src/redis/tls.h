#pragma once
// redis/tls.h - TLS for connections to Redis: trusted certificates, and a session.
//
// A session has no socket: the caller feeds it the received bytes and takes the bytes to send.
// Therefore nothing here blocks, pieces can have any size, and no received bytes are hidden in a
// buffer that poll() does not see.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "belay/result.h"

// Types of OpenSSL, whose headers only tls.cc includes.
struct ssl_ctx_st;
struct ssl_st;

namespace belay::redis {

class TlsTrust {
 public:
  // Trusts the certificates in `ca_file` (PEM); if empty, those of the system. Fails with `invalid`
  // if the file cannot be used.
  static Result<TlsTrust> load(const std::string& ca_file);

 private:
  friend class TlsSession;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::string ca_file_;
};

// The message of a session's Error is a clause: the fault of the server, then a remedy. When a call
// has returned an Error, every later call returns the same one.
class TlsSession {
 public:
  // Starts a session. The server's certificate must contain `host`, a name or an address.
  static Result<TlsSession> begin(const TlsTrust& trust, const std::string& host);

  // Buffers the bytes until the server's certificate has been verified.
  void send(std::string_view plain) { unsaid_ += plain; }
  // Returns the bytes to send now: of the handshake, or encrypted data.
  Result<std::string> take_out();

  void feed(std::string_view came);
  // Returns the decrypted data received so far, possibly empty.
  Result<std::string> take_in();

  // Whether the handshake is complete and the server is verified. REQUIRES: !has_failed().
  bool is_established() const;
  bool has_failed() const { return failure_.has_value(); }
  // Returns the last bytes to send: the close notification, or the alert that states the failure.
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
