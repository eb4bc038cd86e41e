#include "http/server.h"

#include <netinet/tcp.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "http/connection.h"
#include "http/held_loop_responder.h"

namespace belay::http {

namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

// Connections beyond the limit get an error response, but at most this many at a time.
constexpr std::size_t kTurnedAwayMax = 128;
// Delay before the next accept if the system has no descriptor or memory for a connection.
constexpr std::chrono::milliseconds kAcceptRetry{100};
constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kSweepMin{10};
constexpr std::chrono::milliseconds kSweepMax{1'000};
// TCP keepalive: if a client vanished without a reset, this is detected after some minutes.
constexpr int kProbeAfterSeconds = 60;

std::string peer_name(const ip::tcp::endpoint& peer) {
  ip::address address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

Error cannot_listen(const ServerOptions& options, const error_code& why) {
  std::string where = options.address + ", port " + std::to_string(options.port);
  std::string begin = "The server could not listen on " + where;
  if (why == boost::asio::error::address_in_use) {
    return error(ErrorCode::unavailable,
                 begin + ": another program uses the port. Stop it, or choose another port.");
  }
  if (why == boost::asio::error::access_denied) {
    return error(ErrorCode::unavailable,
                 begin + ": only root can use that port. Choose one from 1024.");
  }
  if (why == boost::system::errc::address_not_available) {
    return error(ErrorCode::invalid, begin +
                                         ": the machine does not have this address. Use one of its "
                                         "addresses, or 0.0.0.0 for all.");
  }
  return error(ErrorCode::unavailable, begin + " (" + why.message() + ").");
}

// Accepts connections, checks their deadlines, and closes them. Owned by the server and by its
// pending accept operation.
class Listener final : public std::enable_shared_from_this<Listener> {
 public:
  Listener(std::shared_ptr<Serving> serving, boost::asio::io_context& io)
      : serving_(std::move(serving)), io_(io), acceptor_(io) {}

  Result<Done> open() {
    const ServerOptions& options = serving_->options;
    error_code failed;
    ip::address address = ip::make_address(options.address, failed);
    if (failed || options.port < 0 || options.port > 65'535) {
      return error(
          ErrorCode::invalid,
          "The server could not listen on \"" + options.address + "\", port " +
              std::to_string(options.port) +
              ": expected an IP address such as 127.0.0.1 or ::1, and a port up to 65535.");
    }
    ip::tcp::endpoint endpoint(address, static_cast<std::uint16_t>(options.port));
    std::ignore = acceptor_.open(endpoint.protocol(), failed);
    if (!failed) std::ignore = acceptor_.set_option(Acceptor::reuse_address(true), failed);
    if (!failed) std::ignore = acceptor_.bind(endpoint, failed);
    if (!failed) std::ignore = acceptor_.listen(kBacklog, failed);
    if (!failed) std::ignore = acceptor_.non_blocking(true, failed);
    if (!failed) port_ = acceptor_.local_endpoint(failed).port();
    if (failed) return cannot_listen(options, failed);
    // Accepted sockets inherit these options from the listening socket.
    int on = 1;
    int after = kProbeAfterSeconds;
    int socket = acceptor_.native_handle();
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &after, sizeof(after));
    return Done{};
  }

  void start() {
    // Weak: connections own the Serving, and can outlive the listener while the loop holds handlers
    // of them.
    serving_->connection_ended = [place = weak_from_this()] {
      if (auto self = place.lock()) self->on_connection_ended();
    };
    accept();
    if (serving_->tls || serving_->options.liveness_path.empty()) return;
    responder_ = std::make_unique<HeldLoopResponder>(
        serving_->loop, acceptor_.native_handle(), serving_->options.liveness_path,
        [place = weak_from_this()](int socket) { adopt(place.lock(), socket); });
  }

  int port() const { return port_; }

  void close() {
    closed_ = true;
    stop_accepting();
    if (drain_timer_) serving_->loop.cancel(*drain_timer_);
    if (sweep_timer_) serving_->loop.cancel(*sweep_timer_);
    drained_.clear();
    close_all();
    serving_->handler =
        nullptr;  // the loop can hold the Serving for longer than the captures of the handler live
  }

  void drain(std::function<void()> done) {
    drained_.push_back(std::move(done));
    serving_->loop.post([self = shared_from_this()] { self->begin_drain(); });
  }

 private:
  void accept() {
    acceptor_.async_accept(io_.get_executor(), peer_,
                           [self = shared_from_this()](error_code failed, Socket socket) {
                             if (self->closed_ || !self->acceptor_.is_open()) return;
                             if (failed) return self->after_failed_accept(failed);
                             self->take(std::move(socket), self->peer_);
                             self->accept();
                           });
  }

  // If a connection was closed before it was accepted, that is not an error of the server. If there
  // are no descriptors or no memory, retry: connections that end release theirs.
  void after_failed_accept(const error_code& failed) {
    if (failed == boost::asio::error::connection_aborted) return accept();
    serving_->loop.call_after(kAcceptRetry, [place = weak_from_this()] {
      auto self = place.lock();
      if (self && self->acceptor_.is_open()) self->accept();
    });
  }

  // A connection that was accepted while the loop was held.
  static void adopt(const std::shared_ptr<Listener>& self, int socket) {
    error_code failed;
    ip::tcp::endpoint peer;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    bool is_known = ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                    size <= peer.capacity();
    if (!self || self->closed_ || !self->acceptor_.is_open() || !is_known) {
      ::close(socket);
      return;
    }
    std::memcpy(peer.data(), &address, size);
    peer.resize(size);
    Socket taken(self->io_);
    std::ignore = taken.assign(peer.protocol(), socket, failed);
    if (failed) {
      ::close(socket);
    } else {
      self->take(std::move(taken), peer);
    }
  }

  void take(Socket socket, const ip::tcp::endpoint& peer) {
    ++serving_->accepted;
    std::size_t most = serving_->options.limits.connections;
    std::size_t now = serving_->connections.size();
    error_code failed;
    std::ignore = socket.non_blocking(true, failed);
    if (failed || now >= most + kTurnedAwayMax) {
      ++serving_->refused;
      return;
    }
    auto connection = std::make_shared<Connection>(serving_, std::move(socket), peer_name(peer));
    auto place = serving_->connections.insert(serving_->connections.end(), connection);
    connection->start(place, now >= most);
    if (!sweep_timer_) sweep_later();
  }

  // One timer for all connections: a deadline costs a request only one reading of the clock.
  void sweep_later() {
    const ServerTimeouts& of = serving_->options.timeouts;
    auto shortest = std::min({of.handshake, of.head, of.body, of.idle, of.write});
    sweep_timer_ = serving_->loop.call_after(std::clamp(shortest / 4, kSweepMin, kSweepMax),
                                             [place = weak_from_this()] {
                                               if (auto self = place.lock()) self->sweep();
                                             });
  }

  void sweep() {
    sweep_timer_.reset();
    MonotonicTime now = std::chrono::steady_clock::now();
    auto& connections = serving_->connections;
    for (auto next = connections.begin(); next != connections.end();) {
      auto connection = *next++;  // a copy: the call can remove it from the list
      connection->check_deadline(now);
    }
    if (!connections.empty()) sweep_later();
  }

  void stop_accepting() {
    responder_.reset();  // uses the descriptor of the acceptor
    error_code ignored;
    std::ignore = acceptor_.close(ignored);
  }

  void begin_drain() {
    if (closed_) return;
    if (serving_->draining) return on_connection_ended();
    serving_->draining = true;
    stop_accepting();
    for (auto next = serving_->connections.begin(); next != serving_->connections.end();) {
      auto connection = *next++;
      connection->drain();
    }
    drain_timer_ =
        serving_->loop.call_after(serving_->options.timeouts.drain, [place = weak_from_this()] {
          if (auto self = place.lock()) self->close_all();
        });
    on_connection_ended();
  }

  void close_all() {
    while (!serving_->connections.empty()) {
      auto connection = serving_->connections.front();
      connection->close();
    }
  }

  void on_connection_ended() {
    if (!serving_->draining || closed_ || !serving_->connections.empty() || drained_.empty())
      return;
    if (drain_timer_) serving_->loop.cancel(*drain_timer_);
    // Posted: `done` may destroy the server, which the caller still uses.
    for (auto& done : std::exchange(drained_, {})) serving_->loop.post(std::move(done));
  }

  const std::shared_ptr<Serving> serving_;
  boost::asio::io_context& io_;
  Acceptor acceptor_;
  ip::tcp::endpoint peer_;  // of the next accepted connection
  std::unique_ptr<HeldLoopResponder> responder_;
  int port_ = 0;
  bool closed_ = false;
  std::optional<Executor::TimerId> sweep_timer_;
  std::optional<Executor::TimerId> drain_timer_;
  std::vector<std::function<void()>> drained_;
};

class ListeningServer final : public Server {
 public:
  ListeningServer(std::shared_ptr<Serving> serving, std::shared_ptr<Listener> listener)
      : serving_(std::move(serving)), listener_(std::move(listener)) {}
  ~ListeningServer() override { listener_->close(); }

  int port() const override { return listener_->port(); }

  ServerCounts counts() const override {
    ServerCounts counts{.accepted = serving_->accepted,
                        .requests = serving_->requests,
                        .refused = serving_->refused};
    counts.request_bytes = serving_->request_bytes;
    for (const auto& connection : serving_->connections) {
      ++counts.connections;
      Phase phase = connection->phase();
      if (phase == Phase::streaming || phase == Phase::upgraded) ++counts.streams;
      if (connection->phase() == Phase::handling) ++counts.handling;
      counts.buffered_bytes += connection->buffered_bytes();
    }
    return counts;
  }

  void drain(std::function<void()> done) override { listener_->drain(std::move(done)); }

  Result<Done> reload_certificate() override {
    if (!serving_->options.tls) return Done{};
    BELAY_TRY(serving_->tls, TlsContext::load(*serving_->options.tls));
    return Done{};
  }

 private:
  const std::shared_ptr<Serving> serving_;
  const std::shared_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(AsioLoop& loop, Clock& clock, ServerOptions options,
                                               Handler handler) {
  std::shared_ptr<TlsContext> tls;
  if (options.tls) {
    BELAY_TRY(tls, TlsContext::load(*options.tls));
  }
  auto serving = std::make_shared<Serving>(Serving{.loop = loop,
                                                   .clock = clock,
                                                   .options = std::move(options),
                                                   .handler = std::move(handler),
                                                   .tls = std::move(tls)});
  auto listener = std::make_shared<Listener>(serving, loop.context().io);
  BELAY_CHECK(listener->open());
  listener->start();
  return std::unique_ptr<Server>(
      std::make_unique<ListeningServer>(std::move(serving), std::move(listener)));
}

}  // namespace belay::http
