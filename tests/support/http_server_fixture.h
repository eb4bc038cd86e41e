#pragma once
// tests/support/http_server_fixture.h - a server on a free loopback port and its own thread, and
// raw clients, for tests.

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

// A client connection; blocks.
class Client {
 public:
  explicit Client(int port);
  Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Client& operator=(Client&&) = delete;
  ~Client();

  bool send(std::string_view bytes);
  void end_sending();
  // Closes the connection with an error (RST) instead of a regular end.
  void reset();

  // Reads until the received text ends in `end`, and returns it; "" if the server closes first.
  std::string read_until(std::string_view end);
  std::string read_bytes(std::size_t count);
  // Reads until the server closes.
  std::string read_all();
  // Reads a response with a Content-Length, or without a body.
  std::string answer();
  int status_of_answer();

  int socket() const { return socket_; }

 private:
  bool receive();

  int socket_ = -1;
  std::string held_;
};

// Returns the whole response to `request`, on its own connection, which the server must close.
std::string exchange(int port, std::string_view request);
int status_of(std::string_view answer);
std::string_view body_of(std::string_view answer);

// A complete request.
inline const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

class HttpServerFixture {
 public:
  explicit HttpServerFixture(Handler handler, ServerOptions options = {});
  HttpServerFixture(const HttpServerFixture&) = delete;
  HttpServerFixture& operator=(const HttpServerFixture&) = delete;
  ~HttpServerFixture();

  int port() const { return port_; }
  Client connect() const { return Client(port_); }

  // Runs `work` on the loop's thread and waits for it.
  void on_loop(std::function<void()> work);
  ServerCounts counts();
  // Waits until `enough` returns true.
  void wait_for(std::function<bool(const ServerCounts&)> enough);

  AsioLoop& loop() { return *loop_; }
  Server& server() { return *server_; }
  // Must be called on the loop's thread, or in on_loop().
  void destroy_server() { server_.reset(); }

 private:
  const std::unique_ptr<AsioLoop> loop_;
  const std::unique_ptr<Clock> clock_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::thread thread_;  // last: it uses all members above
};

// A handler whose responses, a text and the path, wait until the test releases them.
class HeldHandler {
 public:
  Handler handler();
  // Releases waiting and later responses. From any thread, once.
  void release(std::string text);

  std::atomic<int> begun = 0;
  std::atomic<int> destroyed = 0;  // coroutines, whether they had ended or not

 private:
  Task<Response> hold(Request request);

  std::mutex mutex_;
  std::vector<Completion<Done>> waiting_;
  std::string text_;
  bool released_ = false;
};

// Returns a handler that responds immediately.
Handler answering(std::function<Response(const Request&)> answer);

}  // namespace belay::http
