#pragma once
// bench/connection.h - minimal HTTP client over one blocking socket, for measuring a server with
// little overhead in the client.
//
// Any unexpected response ends the program with a message.

#include <string>
#include <string_view>

namespace belay::bench {

struct Answered {
  int status = 0;
  std::string body;
};

class Connection {
 public:
  // Connects to 127.0.0.1. is_open() is false if no process listens.
  explicit Connection(int port);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();
  bool is_open() const { return socket_ >= 0; }

  // Sends a request and reads the response; the connection stays open. Requires a response with
  // Content-Length.
  Answered ask(std::string_view method, std::string_view path, std::string_view body = {},
               std::string_view more_headers = {});

  // Opens a stream of server-sent events. Each call of next_event() then returns the data of the
  // next event with data, as soon as it is complete; "" at the end of the stream.
  void open_events(std::string_view path);
  std::string next_event();

 private:
  void send(std::string_view text);
  std::string read_head();
  bool receive();           // appends to held_; false at the end
  std::string read_line();  // without its end
  std::string read_exactly(std::size_t bytes);
  bool read_chunk();  // into text_; false for the last one

  int socket_ = -1;
  std::string held_;  // received, not yet returned
  std::string text_;  // content of the stream, without chunk headers
};

// Returns an unused port of 127.0.0.1.
int free_port();

}  // namespace belay::bench
