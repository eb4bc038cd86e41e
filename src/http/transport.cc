#include "http/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace belay::http {
namespace {

class Plain final : public Transport {
 public:
  explicit Plain(int socket) : socket_(socket) {}

  Wait handshake() override { return Wait::none; }

  Moved read(char* to, std::size_t size) override {
    ssize_t got = ::recv(socket_, to, size, 0);
    if (got > 0) return {Wait::none, static_cast<std::size_t>(got)};
    return {got < 0 && again() ? Wait::readable : Wait::ended};
  }

  Moved write(std::string_view bytes, bool more) override {
    ssize_t sent =
        ::send(socket_, bytes.data(), bytes.size(), more ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL);
    if (sent >= 0) return {Wait::none, static_cast<std::size_t>(sent)};
    return {again() ? Wait::writable : Wait::ended};
  }

  bool holds_input() const override { return false; }
  void end_writing() override { ::shutdown(socket_, SHUT_WR); }

 private:
  static bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  const int socket_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int socket) { return std::make_unique<Plain>(socket); }

}  // namespace belay::http
