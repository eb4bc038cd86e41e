#include "tests/support/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "belay/result.h"

namespace belay::net {

Peer::~Peer() { ::close(socket_); }

std::string Peer::request() {
  std::array<char, 4096> buffer;
  while (true) {
    std::size_t head = held_.find("\r\n\r\n");
    if (head != held_.npos) {
      std::size_t length = 0;
      std::size_t named = std::min(held_.find("Content-Length: "), held_.find("content-length: "));
      if (named < head) length = std::strtoull(held_.c_str() + named + 16, nullptr, 10);
      std::size_t whole = head + 4 + length;
      if (held_.size() >= whole) {
        std::string request = held_.substr(0, whole);
        held_.erase(0, whole);
        return request;
      }
    }
    ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return {};
    held_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::string Peer::line() {
  std::array<char, 4096> buffer;
  while (held_.find('\n') == held_.npos) {
    ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return {};
    held_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::string line = held_.substr(0, held_.find('\n') + 1);
  held_.erase(0, line.size());
  return line;
}

bool Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Peer::sees_the_end() {
  std::array<char, 256> buffer;
  while (true) {
    ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got == 0) return true;
    if (got < 0) return errno == ECONNRESET;
  }
}

ScriptedServer::ScriptedServer(Script script) : script_(std::move(script)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  BELAY_ASSERT(listener_ >= 0 && ::bind(listener_, any, size) == 0 &&
               ::listen(listener_, 16) == 0 && ::getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string ScriptedServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

void ScriptedServer::serve() {
  while (true) {
    int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    Peer peer(socket);
    script_(peer, connections_++);
  }
}

}  // namespace belay::net
