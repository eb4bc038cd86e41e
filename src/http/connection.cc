#include "http/connection.h"

#include <tuple>

#include "http/compression.h"
#include "http/response.h"

namespace belay::http {
namespace {

constexpr int kReadsMax = 16;  // consecutive reads before other connections get a turn
// Maximum input that a connection discards after its last response.
constexpr std::size_t kLingerBytesMax = 4 * 1024 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

void release(std::string& buffer) { std::string().swap(buffer); }

std::size_t heap_of(const std::string& buffer) {
  return buffer.capacity() > std::string().capacity() ? buffer.capacity() : 0;
}

}  // namespace

Connection::Connection(std::shared_ptr<Serving> serving, Socket socket, std::string peer)
    : serving_(std::move(serving)), socket_(std::move(socket)), peer_(std::move(peer)) {}

Connection::~Connection() = default;

void Connection::start(std::list<std::shared_ptr<Connection>>::iterator place, bool full) {
  place_ = place;
  int descriptor = socket_.native_handle();
  transport_ = serving_->tls ? serving_->tls->transport(descriptor) : plain_transport(descriptor);
  if (!transport_ || (full && serving_->tls)) {
    ++serving_->refused;
    return close();
  }
  if (full)
    return refuse(503,
                  "The server has reached its maximum number of connections. Try again later.");
  if (serving_->tls) {
    phase_ = Phase::handshake;
    set_deadline(serving_->options.timeouts.handshake);
    return wait_for_readable();
  }
  set_deadline(serving_->options.timeouts.head);
  wait_for_readable();
}

void Connection::check_deadline(MonotonicTime now) {
  if (now < deadline_) return;
  if (phase_ != Phase::request || !reader_) return close();
  refuse(408, reader_->head_done() ? "The body of the request did not arrive in time."
                                   : "The head of the request did not arrive in time.");
}

void Connection::drain() {
  switch (phase_) {
    case Phase::handshake:
      return close();
    case Phase::request:
      if (!reader_ && held_.empty()) close();
      return;
    case Phase::streaming:
      if (!task_ || piece_) return;  // pull() checks `draining`
      task_.reset();
      return end_stream();
    case Phase::upgraded:
      return upgrade_->drain();
    default:
      return;  // finish_answer() checks `draining`
  }
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  auto self = shared_from_this();
  phase_ = Phase::closed;
  deadline_ = MonotonicTime::max();
  task_.reset();
  stream_.reset();
  upgrade_.reset();
  response_.reset();
  piece_.reset();
  reader_.reset();
  transport_.reset();
  drop_held(held_.size() - held_begin_);
  count();
  release(out_);
  release(body_);
  boost::system::error_code ignored;
  std::ignore = socket_.close(ignored);
  serving_->connections.erase(place_);
  if (serving_->connection_ended) serving_->connection_ended();
}

std::size_t Connection::buffered_bytes() const {
  std::size_t upgraded = upgrade_ ? upgrade_->buffered_bytes() : 0;
  return request_bytes() + heap_of(out_) + heap_of(body_) + upgraded;
}

void Connection::on_readable() {
  if (write_wants_readable_) {
    write_wants_readable_ = false;
    on_writable();
  }
  switch (phase_) {
    case Phase::handshake:
      return shake_hands();
    case Phase::request:
      return read_request();
    case Phase::handling:
    case Phase::answering:
    case Phase::streaming:
      return read_ahead();
    case Phase::lingering:
      return discard();
    case Phase::upgraded:
    case Phase::closed:
      return;
  }
}

void Connection::on_writable() {
  if (read_wants_writable_) {
    read_wants_writable_ = false;
    on_readable();
  }
  if (phase_ == Phase::handshake) return shake_hands();
  if (phase_ == Phase::answering && flush()) return finish_answer();
  if (phase_ == Phase::streaming && !task_ && flush()) return pull();
}

void Connection::shake_hands() {
  Wait wait = transport_->handshake();
  if (wait == Wait::readable) return wait_for_readable();
  if (wait == Wait::writable) return wait_for_writable();
  if (wait == Wait::ended) return close();
  phase_ = Phase::request;
  set_deadline(serving_->options.timeouts.head);
  read_request();
}

void Connection::read_request() {
  std::vector<char>& scratch = serving_->scratch;
  if (resumes_) return;  // held_ comes first: reading must not be faster than responding
  for (int turn = 0; turn < kReadsMax; ++turn) {
    Moved moved = transport_->read(scratch.data(), scratch.size());
    if (moved.wait == Wait::ended) return close();  // between two requests, or within one
    if (moved.wait != Wait::none) return wait_to_read(moved.wait);
    feed({scratch.data(), moved.bytes});
    if (phase_ != Phase::request) return;
    if (resumes_) return;
    bool drained = moved.bytes < scratch.size() && !transport_->holds_input();
    if (drained) return wait_for_readable();
  }
  post(&Connection::on_readable);
}

// Continues with the input received while another request was handled.
void Connection::resume_input() {
  resumes_ = false;
  if (phase_ != Phase::request) return;
  if (!held_.empty()) feed({});
  if (phase_ != Phase::request || resumes_) return;
  if (transport_->holds_input()) return read_request();
  wait_for_readable();
}

void Connection::feed(std::string_view bytes) {
  bool is_held = !held_.empty();
  if (is_held) {
    held_.append(bytes);
    bytes = std::string_view(held_).substr(held_begin_);
  }
  std::size_t before = bytes.size();
  if (!reader_) begin_reading(bytes);
  bool has_new_head = false;
  if (reader_ && !reader_->head_done()) {
    bytes.remove_prefix(reader_->take_head(bytes));
    has_new_head = reader_->head_done() && !reader_->refusal();
  }
  std::optional<Response> refused = has_new_head ? admit() : std::nullopt;
  bool reads_body = reader_ && reader_->head_done() && !reader_->refusal();
  reads_body = reads_body && !reader_->complete() && !refused;
  if (reads_body) bytes.remove_prefix(reader_->take(bytes));
  // `bytes` may point into the shared scratch buffer: copy the rest before another connection
  // reads.
  if (is_held) {
    drop_held(before - bytes.size());
  } else {
    held_.assign(bytes);
  }
  count();
  if (!reader_) return;
  if (reader_->refusal()) {
    Refusal refusal = *reader_->refusal();
    return refuse(refusal.status, std::move(refusal.detail));
  }
  if (refused) return answer_head(*std::move(refused));
  if (serving_->request_bytes > serving_->options.limits.request_bytes) {
    return refuse(503, "The server has reached its memory limit for requests. Try again later.");
  }
  if (reader_->complete()) return handle();
  if (has_new_head) after_head();
}

std::optional<Response> Connection::admit() {
  const auto& hook = serving_->options.admit;
  if (!hook) return std::nullopt;
  Request& head = reader_->request();
  head.peer = peer_;
  head.tls = serving_->tls != nullptr;
  return hook(head);
}

// Discards the body: a connection with an unread body cannot be reused.
void Connection::answer_head(Response response) {
  ++serving_->refused;
  first_request_ = false;
  keep_alive_ = reader_->complete() && reader_->keeps_alive();
  http_1_0_ = reader_->is_http_1_0();
  is_head_ = reader_->request().method == "HEAD";
  reader_.reset();
  if (!keep_alive_) drop_held(held_.size() - held_begin_);
  count();
  response.stream.reset();
  send(std::move(response));
}

std::size_t Connection::request_bytes() const {
  return heap_of(held_) + (reader_ ? reader_->buffered_bytes() : 0);
}

void Connection::count() {
  std::size_t now = request_bytes();
  serving_->request_bytes += now - counted_;  // unsigned: wraps around to a smaller sum
  counted_ = now;
}

// Moves the rest to the front only when half of the buffer is consumed, so that many small requests
// in it take linear time.
void Connection::drop_held(std::size_t bytes) {
  held_begin_ += bytes;
  if (held_begin_ == held_.size()) {
    release(held_);
    held_begin_ = 0;
  } else if (held_begin_ > held_.size() / 2) {
    held_.erase(0, held_begin_);
    held_begin_ = 0;
  }
}

// Skips one empty line before a request (RFC 9112, section 2.2): old clients end a body with it.
void Connection::begin_reading(std::string_view& bytes) {
  if (bytes == "\r") return;
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  if (bytes.empty()) return;
  reader_ = std::make_unique<RequestReader>(serving_->options.limits);
  if (!first_request_) set_deadline(serving_->options.timeouts.head);
}

void Connection::after_head() {
  set_deadline(serving_->options.timeouts.body);
  if (!reader_->expects_continue() || !held_.empty()) return;
  // No other output is pending: the kernel accepts these few bytes, unless the client is gone.
  Moved moved = transport_->write(kContinue, false);
  if (moved.wait != Wait::none || moved.bytes != kContinue.size()) close();
}

// Input during the handling of a request: the next request, or the end of the connection.
void Connection::read_ahead() {
  std::vector<char>& scratch = serving_->scratch;
  while (true) {
    Moved moved = transport_->read(scratch.data(), scratch.size());
    if (moved.wait == Wait::ended) {
      ended_ = true;
      if (phase_ == Phase::streaming || ends_with_client_) close();
      return;
    }
    if (moved.wait != Wait::none) return wait_to_read(moved.wait);
    held_.append(scratch.data(), moved.bytes);
    count();
    const ServerLimits& limits = serving_->options.limits;
    bool is_full = serving_->request_bytes > limits.request_bytes;
    if (held_.size() > limits.ahead_bytes || is_full) {
      if (phase_ == Phase::streaming) close();  // the client's end could not be detected any more
      return;
    }
  }
}

void Connection::discard() {
  std::vector<char>& scratch = serving_->scratch;
  while (discarded_ < kLingerBytesMax) {
    Moved moved = transport_->read(scratch.data(), scratch.size());
    if (moved.wait == Wait::ended) break;
    if (moved.wait != Wait::none) return wait_to_read(moved.wait);
    discarded_ += moved.bytes;
  }
  close();
}

// --- Responses ---

void Connection::handle() {
  phase_ = Phase::handling;
  deadline_ = MonotonicTime::max();
  first_request_ = false;
  keep_alive_ = reader_->keeps_alive();
  http_1_0_ = reader_->is_http_1_0();
  gzip_ = serving_->options.compress && reader_->accepts_gzip();
  Request request = std::move(reader_->request());
  reader_.reset();
  count();
  is_head_ = request.method == "HEAD";
  request.peer = peer_;
  request.tls = serving_->tls != nullptr;
  const auto& ends_with_client = serving_->options.ends_with_client;
  ends_with_client_ = ends_with_client && ends_with_client(request);
  ++serving_->requests;

  starting_ = true;
  Spawned task = spawn<Response>(serving_->loop, serving_->handler(std::move(request)),
                                 [this](Response response) {
                                   response_.emplace(std::move(response));
                                   if (!starting_) post(&Connection::on_answer);
                                 });
  starting_ = false;
  if (response_) return on_answer();
  task_ = std::move(task);
  if (ends_with_client_) wait_for_readable();
}

void Connection::on_answer() {
  if (phase_ != Phase::handling || !response_) return;
  task_.reset();
  Response response = std::move(*response_);
  response_.reset();
  answer(std::move(response));
}

void Connection::answer(Response response) {
  if (response.status == 101) return upgrade(std::move(response));
  if (response.status < 200 || response.status > 599) response = problem_response(500, "");
  if (response.stream) return begin_stream(std::move(response));
  bool worth = serving_->options.compress && has_body(response.status) && is_compressible(response);
  if (!worth) return send(std::move(response));
  add_vary(response);
  if (!gzip_) return send(std::move(response));
  if (is_head_) return send(std::move(response), true);
  send_compressed(std::move(response));
}

}  // namespace belay::http
