#include "redis/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace belay::redis {
namespace {

constexpr std::size_t piece_bytes = 64u << 10;

Error gone(std::string_view what, int number) {
  return error(ErrorCode::unavailable,
               std::string(what) + ": " + std::generic_category().message(number));
}

// The record type of a TLS alert.
constexpr char alert_type = 21;

Error speaks_tls() {
  return error(ErrorCode::invalid,
               "that port uses TLS; write rediss:// in the setting redis (--redis, BELAY_REDIS)");
}

bool is_later(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

}  // namespace

Wakeup::Wakeup() : handle_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wakeup::~Wakeup() {
  if (handle_ >= 0) ::close(handle_);
}

void Wakeup::wake() const {
  std::uint64_t one = 1;
  // A failed write means that the counter is full, and the thread will wake.
  [[maybe_unused]] auto written = ::write(handle_, &one, sizeof one);
}

void Wakeup::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(handle_, &count, sizeof count);
}

Result<Done> Socket::begin(const Address& address, const std::string& ca_file) {
  close();
  if (address.is_tls) BELAY_CHECK(begin_tls(address, ca_file));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::string port = std::to_string(address.port);
  int failed = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    return error(ErrorCode::unavailable,
                 std::string("the host is unknown: ") + ::gai_strerror(failed));
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  places_.clear();
  for (const addrinfo* each = found; each; each = each->ai_next) {
    std::string bytes(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen);
    places_.push_back({std::move(bytes), each->ai_family});
  }
  std::reverse(places_.begin(), places_.end());
  return connect_next();
}

Result<Done> Socket::begin_tls(const Address& address, const std::string& ca_file) {
  // Kept for later attempts: reading takes about 25 ms for a file with all of the system's CAs.
  if (!trust_) {
    auto loaded = TlsTrust::load(ca_file);
    if (!loaded.ok()) return loaded.error();
    trust_.emplace(*std::move(loaded));
  }
  auto begun = TlsSession::begin(*trust_, address.host);
  if (!begun.ok()) return begun.error();
  tls_.emplace(*std::move(begun));
  return Done{};
}

Result<Done> Socket::connect_next() {
  Error last = error(ErrorCode::unavailable, "the host has no address");
  while (!places_.empty()) {
    Place place = std::move(places_.back());
    places_.pop_back();
    if (handle_ >= 0) ::close(handle_);
    handle_ = ::socket(place.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (handle_ < 0) return gone("no socket is available", errno);
    int yes = 1;
    ::setsockopt(handle_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(handle_, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    sockaddr_storage name{};
    std::memcpy(&name, place.bytes.data(), std::min(place.bytes.size(), sizeof name));
    int connected = ::connect(handle_, reinterpret_cast<const sockaddr*>(&name),
                              static_cast<socklen_t>(place.bytes.size()));
    state_ = connected == 0 ? State::open : State::connecting;
    if (connected == 0 || errno == EINPROGRESS || errno == EINTR) return Done{};
    last = gone("no server responds", errno);
  }
  close();
  return last;
}

void Socket::close() {
  if (tls_ && state_ == State::open && out_.empty()) {
    std::string words = tls_->last_words();
    [[maybe_unused]] auto said = ::send(handle_, words.data(), words.size(), MSG_NOSIGNAL);
  }
  // The next connection reads the file again, which can have changed; not if the server has not
  // replied at all.
  if (tls_ && (tls_->has_failed() || tls_->is_established())) trust_.reset();
  tls_.reset();
  if (handle_ >= 0) ::close(handle_);
  handle_ = -1;
  state_ = State::closed;
  has_heard_ = false;
  out_.clear();
}

void Socket::wait(const Wakeup& wakeup, std::chrono::milliseconds longest) const {
  short wanted = POLLIN;
  if (state_ == State::connecting || !out_.empty()) wanted |= POLLOUT;
  // Do not wait after the end of the session: it can have been received together with data that is
  // not yet read, and no more bytes follow.
  if (tls_ && tls_->has_failed()) longest = std::chrono::milliseconds(0);
  pollfd both[2] = {{wakeup.handle(), POLLIN, 0}, {handle_, wanted, 0}};
  ::poll(both, handle_ >= 0 ? 2 : 1, static_cast<int>(longest.count()));
}

Result<Done> Socket::go_on() {
  if (state_ == State::connecting) BELAY_CHECK(finish_connecting());
  if (state_ != State::open) return Done{};
  return send_out();
}

Result<Done> Socket::finish_connecting() {
  pollfd one{handle_, POLLOUT, 0};
  if (::poll(&one, 1, 0) <= 0) return Done{};
  int failed = 0;
  socklen_t size = sizeof failed;
  ::getsockopt(handle_, SOL_SOCKET, SO_ERROR, &failed, &size);
  if (failed == 0) {
    state_ = State::open;
    return Done{};
  }
  if (places_.empty()) return gone("no server responds", failed);
  std::string out = std::move(out_);
  BELAY_CHECK(connect_next());
  out_ = std::move(out);
  return Done{};
}

void Socket::send(std::string_view bytes) {
  if (tls_) {
    tls_->send(bytes);
  } else {
    out_ += bytes;
  }
}

Result<Done> Socket::send_out() {
  if (tls_) {
    BELAY_TRY(std::string encrypted, tls_->take_out());
    out_ += encrypted;
  }
  while (!out_.empty()) {
    auto sent = ::send(handle_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && is_later(errno)) return Done{};
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      // Not an Error yet: the reason might be among the bytes received last; receive() reports it.
      out_.clear();
      return Done{};
    }
    if (sent < 0) return gone("the connection was lost", errno);
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  return Done{};
}

Result<std::string> Socket::receive() {
  if (state_ != State::open) return std::string();
  if (tls_ && tls_->has_failed()) return tls_->take_in();
  std::string piece(piece_bytes, '\0');
  auto came = ::recv(handle_, piece.data(), piece.size(), 0);
  bool is_nothing = came < 0 && is_later(errno);
  if (is_nothing && !tls_) return std::string();
  if (came < 0 && !is_nothing) return ended(gone("the connection was lost", errno).message);
  if (came == 0) return ended("the other side closed the connection");
  piece.resize(is_nothing ? 0 : static_cast<std::size_t>(came));
  if (tls_) {
    tls_->feed(piece);
    return tls_->take_in();
  }
  bool is_first = !std::exchange(has_heard_, true);
  if (is_first && piece.front() == alert_type) return speaks_tls();
  return piece;
}

Error Socket::ended(std::string what) const {
  if (tls_ && !tls_->is_established()) {
    return error(ErrorCode::unavailable,
                 what +
                     " during the TLS handshake; check that the port uses TLS, or write redis:// "
                     "in the setting redis (--redis, BELAY_REDIS)");
  }
  if (!tls_ && !has_heard_) {
    return error(ErrorCode::unavailable,
                 what +
                     " without a reply; if that port uses TLS, write rediss:// in the setting "
                     "redis (--redis, BELAY_REDIS)");
  }
  return error(ErrorCode::unavailable, std::move(what));
}

Error Socket::silence() const {
  if (tls_ && state_ == State::open && !tls_->is_established()) {
    return error(ErrorCode::unavailable,
                 "it did not complete the TLS handshake in time; check that the port uses TLS, or "
                 "write redis:// in the setting redis (--redis, BELAY_REDIS)");
  }
  return error(ErrorCode::unavailable, "it did not respond in time");
}

}  // namespace belay::redis
