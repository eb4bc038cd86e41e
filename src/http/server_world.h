#pragma once
// http/server_world.h - a server on a free loopback port, on a thread of its own, and clients that
// send it bytes.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "belay/clock.h"
#include "http/server.h"

namespace belay::http {

// One connection, blocking.
class Client {
 public:
  explicit Client(int port);
  Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Client& operator=(Client&&) = delete;
  ~Client();

  bool send(std::string_view bytes);
  void end_sending();
  // Closes it so that the server sees an error, not an end.
  void reset();

  // Reads on until what has come and was not taken ends in `end`, and takes it; "" when the server
  // closes first.
  std::string read_until(std::string_view end);
  std::string read_bytes(std::size_t count);
  // Until the server closes.
  std::string read_all();
  // An answer with a Content-Length, or without a body.
  std::string answer();
  int status_of_answer();

  int socket() const { return socket_; }

 private:
  bool receive();

  int socket_ = -1;
  std::string held_;
};

// The whole answer to `request`, on a connection of its own, which the server has to close.
std::string exchange(int port, std::string_view request);
int status_of(std::string_view answer);
std::string_view body_of(std::string_view answer);

class ServerWorld {
 public:
  explicit ServerWorld(Handler handler, ServerOptions options = {});
  ServerWorld(const ServerWorld&) = delete;
  ServerWorld& operator=(const ServerWorld&) = delete;
  ~ServerWorld();

  int port() const { return port_; }
  Client connect() const { return Client(port_); }

  // Runs `work` on the loop's thread and waits for it.
  void on_loop(std::function<void()> work);
  ServerCounts counts();
  // Waits until the counts are as they should be.
  void wait_for(std::function<bool(const ServerCounts&)> enough);

  AsioLoop& loop() { return *loop_; }
  Server& server() { return *server_; }
  // From the loop's thread, or on_loop().
  void destroy_server() { server_.reset(); }

 private:
  const std::unique_ptr<AsioLoop> loop_;
  const std::unique_ptr<Clock> clock_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::thread thread_;  // last: it uses everything above
};

// A handler that answers, once the test says so, with a text and the path.
class HeldHandler {
 public:
  Handler handler();
  // Answers what waits, and what comes from now on. From any thread, once.
  void release(std::string text);

  std::atomic<int> begun = 0;
  std::atomic<int> destroyed = 0;  // tasks, whether they had ended or not

 private:
  Task<Response> hold(Request request);

  std::mutex mutex_;
  std::vector<Completion<Done>> waiting_;
  std::string text_;
  bool released_ = false;
};

// A handler that answers at once.
Handler answering(std::function<Response(const Request&)> answer);

}  // namespace belay::http
