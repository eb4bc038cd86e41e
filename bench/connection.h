#pragma once
// bench/connection.h - HTTP over one blocking socket, with as little between the clock and the wire
// as there can be: for measuring a server, not for using one.
//
// Anything unexpected ends the program with a message.

#include <string>
#include <string_view>

namespace belay::bench {

struct Answered {
  int status = 0;
  std::string body;
};

class Connection {
 public:
  // To 127.0.0.1. False of is_open(): nobody listens.
  explicit Connection(int port);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();
  bool is_open() const { return socket_ >= 0; }

  // One exchange; the connection stays. REQUIRES: the answer has a Content-Length.
  Answered ask(std::string_view method, std::string_view path, std::string_view body = {},
               std::string_view more_headers = {});

  // Opens a stream of server-sent events; then each call gives the data of the next event that has
  // some, as soon as it is whole, and "" at the stream's end.
  void open_events(std::string_view path);
  std::string next_event();

 private:
  void send(std::string_view text);
  std::string read_head();
  bool receive();           // more into held_; false at the end
  std::string read_line();  // without its end
  std::string read_exactly(std::size_t bytes);
  bool read_chunk();  // into text_; false for the last one

  int socket_ = -1;
  std::string held_;  // came, but was not asked for yet
  std::string text_;  // of the stream, without the chunks' frames
};

// A port of 127.0.0.1 on which nobody listens now.
int free_port();

}  // namespace belay::bench
