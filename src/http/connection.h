#pragma once
// http/connection.h - Connection: receives the requests of one connection and sends their
// responses.
//
// A connection is always in one phase (below). Its methods are called for events of the loop: the
// socket is readable or writable, a handler or a stream has returned something, a deadline has
// passed, the server drains. Lifetime: posted functions and socket waits hold a reference to the
// connection, and so does the server's list until the connection is closed.

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/asio_context.h"
#include "http/request_reader.h"
#include "http/server_state.h"
#include "http/upgrade.h"

namespace belay::http {

using MonotonicTime = std::chrono::steady_clock::time_point;

enum class Phase {
  handshake,  // TLS
  request,    // waits for a request, or reads one
  handling,   // the handler is running, or its response is being compressed
  answering,  // a response is being written
  streaming,  // the head or a piece of a stream is being written, or the next piece is awaited
  upgraded,   // an Upgrade has the socket and the transport
  lingering,  // the last response is sent; discards input until the client closes
  closed,
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Serving> serving, Socket socket, std::string peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Starts reading. `full`: the connection limit is exceeded, and the connection only sends an
  // error.
  void start(std::list<std::shared_ptr<Connection>>::iterator place, bool full);
  // Ends the connection if its deadline has passed.
  void check_deadline(MonotonicTime now);
  // Called when the server drains; Serving::draining is set.
  void drain();
  // Closes immediately: destroys the coroutine and the stream, in that order.
  void close();

  Phase phase() const { return phase_; }
  std::size_t buffered_bytes() const;

 private:
  std::size_t request_bytes() const;
  // Updates the total of request bytes that all connections hold.
  void count();
  // Event handlers. Their caller holds a reference to the connection.
  void on_readable();
  void on_writable();
  void on_answer();
  void on_piece();

  void shake_hands();
  void read_request();
  void resume_input();
  void feed(std::string_view bytes);
  std::optional<Response> admit();
  void answer_head(Response response);
  void drop_held(std::size_t bytes);
  void begin_reading(std::string_view& bytes);
  void after_head();
  void read_ahead();
  void discard();

  void handle();
  void answer(Response response);
  void upgrade(Response response);
  void send_compressed(Response response);
  void send(Response response, bool length_unknown = false);
  void refuse(int status, std::string detail);
  void begin_stream(Response response);
  void pull();
  bool send_piece();
  void end_stream();
  void finish_answer();
  void next_request();
  void linger();

  bool flush();
  bool write_some();
  void wait_to_read(Wait wait);
  void wait_to_write(Wait wait);
  void wait_for_readable();
  void wait_for_writable();
  void post(void (Connection::*event)());
  void set_deadline(std::chrono::milliseconds from_now);
  std::string_view date();

  const std::shared_ptr<Serving> serving_;
  Socket socket_;
  const std::string peer_;
  std::unique_ptr<Transport> transport_;
  std::list<std::shared_ptr<Connection>>::iterator place_{};
  MonotonicTime deadline_ = MonotonicTime::max();
  Phase phase_ = Phase::request;

  // Input.
  std::unique_ptr<RequestReader> reader_;  // exists from a request's first byte until it is handled
  std::string held_;                       // received bytes that no reader has consumed ...
  std::size_t held_begin_ = 0;             // ... from this index on
  std::size_t discarded_ = 0;
  std::size_t counted_ = 0;  // its request_bytes() included in the server's total

  // The request being answered.
  Spawned task_;                      // of the handler, or of the stream's next()
  std::optional<Response> response_;  // the handler's result until on_answer()
  std::optional<Result<std::string>> piece_;
  std::unique_ptr<BodyStream> stream_;
  std::unique_ptr<Upgrade> upgrade_;  // set in Phase::upgraded

  // Output: out_, then body_. written_ is an index into both.
  std::string out_;
  std::string body_;
  std::size_t written_ = 0;

  bool waits_readable_ : 1 = false;
  bool waits_writable_ : 1 = false;
  bool write_wants_readable_ : 1 = false;  // only with TLS
  bool read_wants_writable_ : 1 = false;
  bool starting_ : 1 = false;  // a coroutine is being started; it might end before it is stored
  bool resumes_ : 1 = false;   // resume_input() is posted
  bool ended_ : 1 = false;     // the client sends no more
  bool first_request_ : 1 = true;
  bool keep_alive_ : 1 = true;
  bool http_1_0_ : 1 = false;
  bool is_head_ : 1 = false;
  bool gzip_ : 1 = false;
  bool ends_with_client_ : 1 = false;
};

}  // namespace belay::http
