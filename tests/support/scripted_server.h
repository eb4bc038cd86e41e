#pragma once
// tests/support/scripted_server.h - ScriptedServer: a test server on a free loopback port whose
// script determines every byte.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace belay::net {

// A server-side connection; blocks.
class Peer {
 public:
  explicit Peer(int socket) : socket_(socket) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  // Reads a request with its body, according to its Content-Length; "" if the client has closed.
  std::string request();
  // Reads up to a line end, and returns the line with it; "" if the client has closed.
  std::string line();
  // Returns false if the client is gone.
  bool send(std::string_view bytes);
  // Waits until the client has closed.
  bool sees_the_end();

 private:
  const int socket_;
  std::string held_;
};

// Calls `script` for each connection, one after the other, with its number starting at 0. The
// client must close before the server is destroyed.
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
  std::thread thread_;  // last: it uses all members above
};

}  // namespace belay::net
