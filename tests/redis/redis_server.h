#pragma once
// tests/redis/redis_server.h - a real redis-server of a test's own, and a server that says what the
// test says in its place.

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

// On a free port of the loopback, in a temporary folder, without a file; gone with this object.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> more_options = {});
  // Speaks TLS alone, with that certificate, and asks nobody for one.
  RedisServer(const Certificate& certificate, const std::vector<std::string>& more_options);
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  int port() const { return port_; }
  std::string url(const std::string& login = "", int database = 0) const;
  // As a crash would.
  void kill();
  void start();
  // Stands still, with its connections open; and goes on.
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

// Calls `script` with each connection's socket, one after the other; closes it then.
class ScriptedRedis {
 public:
  using Script = std::function<void(int socket, int number)>;
  explicit ScriptedRedis(Script script);
  ScriptedRedis(const ScriptedRedis&) = delete;
  ScriptedRedis& operator=(const ScriptedRedis&) = delete;
  ~ScriptedRedis();
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

  // Answers the greeting. False once the other side is gone.
  static bool greet(int socket);
  // Reads what the other side sends until it has sent this.
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

// Patient: for tests of what comes, not of when.
redis::ClientOptions patient(const std::string& url, const std::string& ca_file = "");
std::unique_ptr<redis::Client> connected(const std::string& url, Random& random,
                                         const std::string& ca_file = "");
// Looks every 2 ms, for 20 s at the most.
bool becomes_true(const std::function<bool()>& condition);

}  // namespace belay::tests
