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

bool is_later(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

}  // namespace

Wakeup::Wakeup() : handle_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wakeup::~Wakeup() {
  if (handle_ >= 0) ::close(handle_);
}

void Wakeup::wake() const {
  std::uint64_t one = 1;
  // Full means that it is woken already.
  [[maybe_unused]] auto written = ::write(handle_, &one, sizeof one);
}

void Wakeup::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(handle_, &count, sizeof count);
}

Result<Done> Socket::begin(const Address& address) {
  close();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::string port = std::to_string(address.port);
  int failed = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    return error(ErrorCode::unavailable,
                 std::string("the host is not known: ") + ::gai_strerror(failed));
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

Result<Done> Socket::connect_next() {
  Error last = error(ErrorCode::unavailable, "the host has no address");
  while (!places_.empty()) {
    Place place = std::move(places_.back());
    places_.pop_back();
    if (handle_ >= 0) ::close(handle_);
    handle_ = ::socket(place.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (handle_ < 0) return gone("there is no socket to be had", errno);
    int yes = 1;
    ::setsockopt(handle_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(handle_, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    sockaddr_storage name{};
    std::memcpy(&name, place.bytes.data(), std::min(place.bytes.size(), sizeof name));
    int connected = ::connect(handle_, reinterpret_cast<const sockaddr*>(&name),
                              static_cast<socklen_t>(place.bytes.size()));
    state_ = connected == 0 ? State::open : State::connecting;
    if (connected == 0 || errno == EINPROGRESS || errno == EINTR) return Done{};
    last = gone("nobody answers", errno);
  }
  close();
  return last;
}

void Socket::close() {
  if (handle_ >= 0) ::close(handle_);
  handle_ = -1;
  state_ = State::closed;
  out_.clear();
}

void Socket::wait(const Wakeup& wakeup, std::chrono::milliseconds longest) const {
  short wanted = POLLIN;
  if (state_ == State::connecting || !out_.empty()) wanted |= POLLOUT;
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
  if (places_.empty()) return gone("nobody answers", failed);
  std::string out = std::move(out_);
  BELAY_CHECK(connect_next());
  out_ = std::move(out);
  return Done{};
}

Result<Done> Socket::send_out() {
  while (!out_.empty()) {
    auto sent = ::send(handle_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && is_later(errno)) return Done{};
    if (sent < 0) return gone("the connection was lost", errno);
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  return Done{};
}

Result<std::string> Socket::receive() {
  if (state_ != State::open) return std::string();
  std::string piece(piece_bytes, '\0');
  auto came = ::recv(handle_, piece.data(), piece.size(), 0);
  if (came < 0 && is_later(errno)) return std::string();
  if (came < 0) return gone("the connection was lost", errno);
  if (came == 0) return error(ErrorCode::unavailable, "the other side closed the connection");
  piece.resize(static_cast<std::size_t>(came));
  return piece;
}

}  // namespace belay::redis
