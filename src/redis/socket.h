#pragma once
// redis/socket.h - a connection that never blocks, and how a thread that waits for one is woken.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "redis/address.h"

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

  // Begins to connect. Looks the host up, which may block where it is a name.
  Result<Done> begin(const Address& address);
  void close();
  State state() const { return state_; }

  // Waits until there is something to do, or `wakeup` is woken.
  void wait(const Wakeup& wakeup, std::chrono::milliseconds longest) const;
  // Finishes connecting, sends what is to be sent; `unavailable` where the other side is gone.
  Result<Done> go_on();
  void send(std::string_view bytes) { out_ += bytes; }
  // What has come; "" where nothing has.
  Result<std::string> receive();

 private:
  struct Place {
    std::string bytes;  // a sockaddr
    int family = 0;
  };

  Result<Done> connect_next();
  Result<Done> finish_connecting();
  Result<Done> send_out();

  State state_ = State::closed;
  int handle_ = -1;
  std::vector<Place> places_;  // of the host, those still to be tried last first
  std::string out_;
};

}  // namespace belay::redis
