// http/connection_output.cc - Connection: sends responses and streams, and waits for its socket.

#include <tuple>

#include "http/compression.h"
#include "http/connection.h"
#include "http/response.h"

namespace belay::http {
namespace {

constexpr int kPiecesMax = 16;  // consecutive pieces of a stream before other connections get a
                                // turn
// Bodies up to this size are appended to their head and sent with it; larger ones are sent without
// a copy.
constexpr std::size_t kJoinedBytesMax = 64 * 1024;
// Bodies up to this size are compressed on the loop's thread, larger ones in the blocking pool.
constexpr std::size_t kCompressedHereMax = 64 * 1024;
// Maximum time for which a connection discards input after its last response. If a socket is closed
// with unread input, the kernel sends a reset, and the client can lose the response (RFC 9112,
// section 9.6).
constexpr std::chrono::milliseconds kLingerMax{2'000};

}  // namespace

void Connection::send_compressed(Response response) {
  if (response.body.size() <= kCompressedHereMax) {
    compress(response);
    return send(std::move(response));
  }
  auto held = std::make_shared<Response>(std::move(response));
  AsioLoop& loop = serving_->loop;
  bool accepted = loop.offload([held, &loop, place = weak_from_this()] {
    compress(*held);
    loop.post([held, place] {
      auto self = place.lock();
      if (self && self->phase_ == Phase::handling) self->send(std::move(*held));
    });
  });
  if (!accepted) send(std::move(*held));  // the pool is full: send it uncompressed now
}

void Connection::send(Response response, bool length_unknown) {
  phase_ = Phase::answering;
  keep_alive_ = keep_alive_ && !serving_->draining && !ended_;
  bool sends_body = has_body(response.status);
  Framing framing{.keep_alive = keep_alive_, .http_1_0 = http_1_0_};
  if (sends_body && !length_unknown) framing.length = response.body.size();
  out_ = head_of(response, framing, date());
  written_ = 0;
  if (sends_body && !is_head_) {
    if (response.body.size() <= kJoinedBytesMax) {
      out_.append(response.body);
    } else {
      body_ = std::move(response.body);
    }
  }
  if (flush()) finish_answer();
}

void Connection::refuse(int status, std::string detail) {
  ++serving_->refused;
  const auto& hook = serving_->options.error_response;
  Response response = hook ? hook(status, std::move(detail)) : problem_response(status, detail);
  response.stream.reset();
  if (status == 503 && !find_header(response.headers, "Retry-After")) {
    response.headers.push_back({"Retry-After", "1"});
  }
  is_head_ = reader_ && reader_->request().method == "HEAD";
  keep_alive_ = false;
  reader_.reset();
  drop_held(held_.size() - held_begin_);
  count();
  send(std::move(response));
}

// The connection remains in the server's list, and counts as open, until the Upgrade ends.
void Connection::upgrade(Response response) {
  auto* taker = dynamic_cast<Upgrade*>(response.stream.get());
  if (!taker || http_1_0_) return send(problem_response(500, ""));
  if (serving_->draining || ended_) return refuse(503, "The server is shutting down.");
  upgrade_.reset(taker);
  std::ignore = response.stream.release();
  phase_ = Phase::upgraded;
  deadline_ = MonotonicTime::max();
  std::string received = held_.substr(held_begin_);
  drop_held(received.size());
  count();
  auto ended = [place = weak_from_this()] {
    if (auto self = place.lock()) self->close();
  };
  upgrade_->start({std::move(socket_), std::move(transport_), std::move(received), ended});
}

void Connection::begin_stream(Response response) {
  phase_ = Phase::streaming;
  bool sends_body = has_body(response.status) && !is_head_;
  if (http_1_0_) keep_alive_ = false;  // the end of the connection marks the end of the body
  keep_alive_ = keep_alive_ && !serving_->draining && !ended_;
  Framing framing{.chunked = !http_1_0_ && has_body(response.status),
                  .keep_alive = keep_alive_,
                  .http_1_0 = http_1_0_};
  out_ = head_of(response, framing, date());
  written_ = 0;
  if (!sends_body) {
    phase_ = Phase::answering;
    response.stream.reset();
    if (flush()) finish_answer();
    return;
  }
  stream_ = std::move(response.stream);
  wait_for_readable();  // detects that the client disconnects
  if (flush()) pull();
}

// Sends pieces of the stream until none is ready, or the client accepts no more bytes.
void Connection::pull() {
  for (int turn = 0; turn < kPiecesMax; ++turn) {
    if (serving_->draining) return end_stream();
    deadline_ = MonotonicTime::max();
    starting_ = true;
    Spawned task = spawn<Result<std::string>>(serving_->loop, stream_->next(),
                                              [this](Result<std::string> piece) {
                                                piece_.emplace(std::move(piece));
                                                if (!starting_) post(&Connection::on_piece);
                                              });
    starting_ = false;
    if (!piece_) {
      task_ = std::move(task);
      return;
    }
    task.reset();
    if (!send_piece()) return;
  }
  post(&Connection::on_writable);  // without pending output, on_writable() calls pull() again
}

void Connection::on_piece() {
  if (phase_ != Phase::streaming || !piece_) return;
  task_.reset();
  if (send_piece()) pull();
}

// Returns true if the piece was passed to the kernel, and the next one can be sent.
bool Connection::send_piece() {
  Result<std::string> piece = std::move(*piece_);
  piece_.reset();
  if (!piece) {
    close();
    return false;
  }
  if (piece->empty()) {
    end_stream();
    return false;
  }
  if (http_1_0_) {
    out_ = std::move(*piece);
  } else if (piece->size() <= kJoinedBytesMax) {
    out_ = chunk_of(*piece);
  } else {
    out_ = chunk_head(piece->size());
    body_ = std::move(*piece);
    body_.append("\r\n");
  }
  written_ = 0;
  return flush();
}

void Connection::end_stream() {
  stream_.reset();
  phase_ = Phase::answering;
  keep_alive_ = keep_alive_ && !serving_->draining;
  if (!http_1_0_) out_ = kLastChunk;
  written_ = 0;
  if (flush()) finish_answer();
}

void Connection::finish_answer() {
  if (keep_alive_ && !serving_->draining && !ended_) return next_request();
  linger();
}

void Connection::next_request() {
  phase_ = Phase::request;
  set_deadline(serving_->options.timeouts.idle);
  if (held_.empty() && !transport_->holds_input()) return wait_for_readable();
  resumes_ = true;
  post(&Connection::resume_input);
}

void Connection::linger() {
  if (ended_) return close();
  transport_->end_writing();
  phase_ = Phase::lingering;
  drop_held(held_.size() - held_begin_);
  count();
  set_deadline(kLingerMax);
  if (transport_->holds_input()) return post(&Connection::on_readable);
  wait_for_readable();
}

// Returns true if all output was passed to the kernel. Otherwise waits for the socket, or has
// closed the connection if the client is gone.
bool Connection::flush() {
  std::size_t whole = out_.size() + body_.size();
  if (written_ == whole) return true;
  set_deadline(serving_->options.timeouts.write);
  while (written_ < whole) {
    bool in_head = written_ < out_.size();
    std::string_view rest = in_head ? std::string_view(out_).substr(written_)
                                    : std::string_view(body_).substr(written_ - out_.size());
    Moved moved = transport_->write(rest, in_head && !body_.empty());
    if (moved.wait == Wait::ended) {
      close();
      return false;
    }
    if (moved.wait != Wait::none) {
      wait_to_write(moved.wait);
      return false;
    }
    written_ += moved.bytes;
  }
  std::string().swap(out_);
  std::string().swap(body_);
  written_ = 0;
  return true;
}

void Connection::wait_to_read(Wait wait) {
  if (wait == Wait::readable) return wait_for_readable();
  read_wants_writable_ = true;
  wait_for_writable();
}

void Connection::wait_to_write(Wait wait) {
  if (wait == Wait::writable) return wait_for_writable();
  write_wants_readable_ = true;
  wait_for_readable();
}

void Connection::wait_for_readable() {
  if (waits_readable_) return;
  waits_readable_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_readable_ = false;
                       if (self->phase_ == Phase::closed) return;
                       if (error) return self->close();
                       self->on_readable();
                     });
}

void Connection::wait_for_writable() {
  if (waits_writable_) return;
  waits_writable_ = true;
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_writable_ = false;
                       if (self->phase_ == Phase::closed) return;
                       if (error) return self->close();
                       self->on_writable();
                     });
}

void Connection::post(void (Connection::*event)()) {
  serving_->loop.post([self = shared_from_this(), event] {
    if (self->phase_ != Phase::closed) (self.get()->*event)();
  });
}

void Connection::set_deadline(std::chrono::milliseconds from_now) {
  deadline_ = std::chrono::steady_clock::now() + from_now;
}

std::string_view Connection::date() {
  auto second = std::chrono::floor<std::chrono::seconds>(serving_->clock.now());
  if (serving_->date.empty() || second != serving_->date_second) {
    serving_->date_second = second;
    serving_->date = http_date(second);
  }
  return serving_->date;
}

}  // namespace belay::http
