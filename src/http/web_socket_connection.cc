// A WebSocket connection by Beast: one read and one write at a time, a bounded queue, and the
// close.

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "http/web_socket.h"
#include "http/web_socket_stream.h"

namespace belay::http {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using HandshakeRequest = beast::http::request<beast::http::empty_body>;
using IoError = boost::system::error_code;

constexpr std::size_t kReasonBytesMax = 123;  // RFC 6455, section 5.5

// Returns the part of a text that fits, cut between characters.
std::string_view close_reason(std::string_view text) {
  if (text.size() <= kReasonBytesMax) return text;
  std::size_t end = kReasonBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// The parts of the request that Beast needs.
HandshakeRequest handshake_of(const Request& request) {
  HandshakeRequest made(beast::http::verb::get, "/", 11);
  for (const char* name :
       {"Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"}) {
    std::string_view value = request.header(name);
    made.set(name, beast::string_view(value.data(), value.size()));
  }
  return made;
}

class WebSocketConnection final : public WebSocket,
                                  public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(const Request& request, const WebSocketLimits& limits,
                      std::unique_ptr<WebSocketSession> session)
      : limits_(limits), handshake_(handshake_of(request)), session_(std::move(session)) {}

  void start(UpgradedSocket taken) {
    ended_ = std::move(taken.ended);
    stream_.emplace(TransportStream(std::move(taken.socket), std::move(taken.transport),
                                    std::move(taken.received)));
    write_timer_.emplace(stream_->get_executor());
    close_timer_.emplace(stream_->get_executor());
    websocket::stream_base::timeout times{};
    times.handshake_timeout = limits_.close_timeout;
    times.idle_timeout = limits_.idle_timeout;
    times.keep_alive_pings = true;
    stream_->set_option(times);
    stream_->read_message_max(limits_.message_bytes);
    stream_->text(true);
    stream_->set_option(websocket::stream_base::decorator(
        [](websocket::response_type& answer) { answer.erase(beast::http::field::server); }));
    stream_->async_accept(handshake_, [self = shared_from_this()](IoError failed) {
      if (failed || self->is_ended_) return self->end();
      self->is_open_ = true;
      self->session_->open(*self);
      self->read();
      self->write();
    });
  }

  void send(std::string text) override {
    if (closing_ || is_ended_) return;
    bool is_full = !unsent_.empty() && unsent_bytes_ + text.size() > limits_.unsent_bytes;
    if (is_full) return close_slow();
    unsent_bytes_ += text.size();
    unsent_.push_back(std::move(text));
    write();
  }

  void close(WebSocketCode code, std::string reason) override {
    if (closing_ || is_ended_) return;
    std::string_view fits = close_reason(reason);
    websocket::close_reason sent(static_cast<websocket::close_code>(code));
    sent.reason.assign(fits.data(), fits.size());
    closing_ = sent;
    close_timer_->expires_after(limits_.close_timeout);
    close_timer_->async_wait([place = weak_from_this()](IoError cancelled) {
      auto self = place.lock();
      if (!cancelled && self) self->end();
    });
    write();
  }

  std::size_t unsent_bytes() const override { return unsent_bytes_; }
  std::size_t buffered_bytes() const { return unsent_bytes_ + input_.capacity(); }

  // The transport closes the connection, and needs no call of `ended`.
  void abandon() {
    ended_ = nullptr;
    end();
    session_.reset();
  }

 private:
  void read() {
    stream_->async_read(input_, [self = shared_from_this()](IoError failed, std::size_t) {
      if (self->is_ended_) return;
      if (failed) return self->on_read_failed();
      std::string text = beast::buffers_to_string(self->input_.data());
      self->input_.clear();
      self->input_.shrink_to_fit();  // an idle connection holds no buffer
      if (self->closing_) return;    // the close reads the rest
      if (!self->stream_->got_text()) {
        return self->close(WebSocketCode::unsupported, "Only text messages are accepted.");
      }
      self->session_->receive(std::move(text));
      if (!self->closing_ && !self->is_ended_) self->read();
    });
  }

  // async_close() ends a read that waits; the connection ends with the close then.
  void on_read_failed() {
    if (!is_close_sent_) end();
  }

  void write() {
    if (!is_open_ || is_writing_ || is_close_sent_ || is_ended_) return;
    if (unsent_.empty()) return closing_ ? send_close() : void();
    is_writing_ = true;
    watch_write();
    stream_->async_write(
        boost::asio::buffer(unsent_.front()),
        [self = shared_from_this()](IoError failed, std::size_t) { self->on_written(failed); });
  }

  void on_written(IoError failed) {
    if (is_ended_) return;
    is_writing_ = false;
    write_timer_->cancel();
    if (failed) return end();
    unsent_bytes_ -= unsent_.front().size();
    unsent_.pop_front();
    if (unsent_.empty() && !closing_) session_->sent();
    write();
  }

  // Ends the connection if the client accepts no byte for the time limit.
  void watch_write() {
    write_timer_->expires_after(limits_.write_timeout);
    write_timer_->async_wait(
        [place = weak_from_this(), before = stream_->next_layer().written()](IoError cancelled) {
          auto self = place.lock();
          if (cancelled || !self || self->is_ended_ || !self->is_writing_) return;
          if (self->stream_->next_layer().written() == before) return self->end();
          self->watch_write();
        });
  }

  // The message that is being written cannot be taken back; the others are dropped.
  void close_slow() {
    while (unsent_.size() > (is_writing_ ? 1u : 0u)) {
      unsent_bytes_ -= unsent_.back().size();
      unsent_.pop_back();
    }
    close(WebSocketCode::try_again_later, "The client reads too slowly.");
  }

  void send_close() {
    is_close_sent_ = true;
    stream_->async_close(*closing_, [self = shared_from_this()](IoError) { self->end(); });
  }

  void end() {
    if (std::exchange(is_ended_, true)) return;
    if (!stream_) return;
    write_timer_->cancel();
    close_timer_->cancel();
    stream_->next_layer().close();
    // Posted: the session may be the caller.
    boost::asio::post(stream_->get_executor(), [self = shared_from_this()] {
      self->session_.reset();
      auto ended = std::exchange(self->ended_, nullptr);
      if (ended) ended();
    });
  }

  const WebSocketLimits limits_;
  const HandshakeRequest handshake_;
  std::function<void()> ended_;
  std::optional<websocket::stream<TransportStream, false>> stream_;
  std::optional<boost::asio::steady_timer> write_timer_, close_timer_;
  beast::flat_buffer input_;
  std::deque<std::string> unsent_;  // the first is being written, if is_writing_
  std::size_t unsent_bytes_ = 0;
  std::optional<websocket::close_reason> closing_;
  bool is_open_ = false;
  bool is_writing_ = false;
  bool is_close_sent_ = false;
  bool is_ended_ = false;
  std::unique_ptr<WebSocketSession> session_;  // destroyed before what it uses
};

class WebSocketUpgrade final : public Upgrade {
 public:
  explicit WebSocketUpgrade(std::shared_ptr<WebSocketConnection> connection)
      : connection_(std::move(connection)) {}
  ~WebSocketUpgrade() override { connection_->abandon(); }
  WebSocketUpgrade(const WebSocketUpgrade&) = delete;
  WebSocketUpgrade& operator=(const WebSocketUpgrade&) = delete;

  void start(UpgradedSocket taken) override { connection_->start(std::move(taken)); }
  void drain() override { connection_->close(WebSocketCode::going_away, "The server shuts down."); }
  std::size_t buffered_bytes() const override { return connection_->buffered_bytes(); }

 private:
  const std::shared_ptr<WebSocketConnection> connection_;
};

}  // namespace

Response web_socket_response(const Request& request, const WebSocketLimits& limits,
                             std::unique_ptr<WebSocketSession> session) {
  auto connection = std::make_shared<WebSocketConnection>(request, limits, std::move(session));
  Response response;
  response.status = 101;
  response.stream = std::make_unique<WebSocketUpgrade>(std::move(connection));
  return response;
}

}  // namespace belay::http
