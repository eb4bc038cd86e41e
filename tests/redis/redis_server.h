#pragma once
// tests/redis/redis_server.h - a test's own redis-server, and a server with scripted responses.

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "redis/client.h"
#include "tests/redis/certificates.h"

namespace belay::tests {

// A server on a free loopback port, in a temporary folder, without persistence; the destructor ends
// it.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> more_options = {});
  // Accepts only TLS, with that certificate, and requires no client certificate.
  RedisServer(const Certificate& certificate, const std::vector<std::string>& more_options);
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  int port() const { return port_; }
  std::string url(const std::string& login = "", int database = 0) const;
  // Kills the server, as a crash would.
  void kill();
  void start();
  // Stops the process while its connections remain open; continues it.
  void freeze();
  void thaw();

 private:
  bool try_start();

  bool speaks_tls() const { return !certificate_.file.empty(); }

  const Certificate certificate_;
  const std::vector<std::string> more_options_;
  std::string folder_;
  int port_ = 0;
  pid_t process_ = -1;
};

// Calls `script` with the socket of each connection, one after another, and then closes the socket.
class ScriptedRedis {
 public:
  using Script = std::function<void(int socket, int number)>;
  explicit ScriptedRedis(Script script);
  ScriptedRedis(const ScriptedRedis&) = delete;
  ScriptedRedis& operator=(const ScriptedRedis&) = delete;
  ~ScriptedRedis();
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

  // Responds to the greeting. Returns false if the client is gone.
  static bool greet(int socket);
  // Reads until the client has sent `text`; returns false if the client is gone.
  static bool expect(int socket, std::string_view text);
  static void say(int socket, std::string_view text);
  static void wait_for_end(int socket);

 private:
  void serve();

  const Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> current_ = -1;
  std::thread thread_;
};

// Returns options with long timeouts, for tests whose subject is not time.
redis::ClientOptions patient(const std::string& url, const std::string& ca_file = "");
std::unique_ptr<redis::Client> connected(const std::string& url, Random& random,
                                         const std::string& ca_file = "");
// Checks the condition every 2 ms, for at most 20 s.
bool becomes_true(const std::function<bool()>& condition);

}  // namespace belay::tests
