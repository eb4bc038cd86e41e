#pragma once
// redis/socket.h - a non-blocking TCP connection, with or without TLS, and a wakeup for its thread.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/address.h"
#include "redis/tls.h"

namespace belay::redis {

// Wakes a thread that waits in Socket::wait(), from another thread.
class Wakeup {
 public:
  Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  ~Wakeup();
  void wake() const;
  void clear() const;
  int handle() const { return handle_; }

 private:
  int handle_ = -1;
};

class Socket {
 public:
  enum class State { closed, connecting, open };

  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  // Starts to connect. Resolves the host, which can block if it is a name. With TLS, `ca_file`
  // contains the trusted certificates: see TlsTrust.
  Result<Done> begin(const Address& address, const std::string& ca_file);
  void close();
  State state() const { return state_; }

  // Waits until the socket is ready or `wakeup` is woken.
  void wait(const Wakeup& wakeup, std::chrono::milliseconds longest) const;
  // Completes the connection and sends pending bytes. Fails with `unavailable` if it is lost.
  Result<Done> go_on();
  void send(std::string_view bytes);
  // Returns the received bytes, possibly empty.
  Result<std::string> receive();
  // The Error for a connection on which nothing was received in time.
  Error silence() const;

 private:
  struct Place {
    std::string bytes;  // a sockaddr
    int family = 0;
  };

  Result<Done> begin_tls(const Address& address, const std::string& ca_file);
  Result<Done> connect_next();
  Result<Done> finish_connecting();
  Result<Done> send_out();
  Error ended(std::string what) const;

  State state_ = State::closed;
  int handle_ = -1;
  std::vector<Place> places_;  // addresses of the host; the next one to try is the last
  std::string out_;            // bytes to send; with TLS, encrypted
  bool has_heard_ = false;     // bytes were received since it was opened
  std::optional<TlsTrust> trust_;
  std::optional<TlsSession> tls_;
};

}  // namespace belay::redis
