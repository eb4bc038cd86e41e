#pragma once
// net/scripted_server.h - a server on a free loopback port that does what a test says, byte by
// byte.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace belay::net {

// One connection, blocking.
class Peer {
 public:
  explicit Peer(int socket) : socket_(socket) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  // A request with its body, as its Content-Length says; "" once the other side has closed.
  std::string request();
  // False once the other side is gone.
  bool send(std::string_view bytes);
  // Waits until the other side has closed.
  bool sees_the_end();

 private:
  const int socket_;
  std::string held_;
};

// Calls `script` with each connection, one after the other, with its number from 0 on. The other
// side closes before the server goes.
class ScriptedServer {
 public:
  using Script = std::function<void(Peer&, int)>;
  explicit ScriptedServer(Script script);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer();

  int port() const { return port_; }
  std::string url(std::string_view path) const;
  int connections() const { return connections_; }

 private:
  void serve();

  const Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace belay::net
