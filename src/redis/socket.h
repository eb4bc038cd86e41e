#pragma once
// redis/socket.h - a connection that never blocks, with TLS or without, and how a thread that waits
// for one is woken.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/address.h"
#include "redis/tls.h"

namespace belay::redis {

// Another thread wakes the one that waits.
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

  // Begins to connect. Looks the host up, which may block where it is a name. With TLS, `ca_file`
  // says whom to believe: see TlsTrust.
  Result<Done> begin(const Address& address, const std::string& ca_file);
  void close();
  State state() const { return state_; }

  // Waits until there is something to do, or `wakeup` is woken.
  void wait(const Wakeup& wakeup, std::chrono::milliseconds longest) const;
  // Finishes connecting, sends what is to be sent; `unavailable` where the other side is gone.
  Result<Done> go_on();
  void send(std::string_view bytes);
  // What has come; "" where nothing has.
  Result<std::string> receive();
  // What is to be said of it where nothing has come in time.
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
  std::vector<Place> places_;  // of the host, those still to be tried last first
  std::string out_;            // as it goes out: encrypted, where there is TLS
  bool has_heard_ = false;     // anything, since it is open
  std::optional<TlsTrust> trust_;
  std::optional<TlsSession> tls_;
};

}  // namespace belay::redis
