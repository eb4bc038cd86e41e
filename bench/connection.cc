#include "bench/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "bench/pages.h"

namespace belay::bench {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

std::size_t number_of(std::string_view text, int base) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

}  // namespace

Connection::Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(port);
  int on = 1;
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(socket_);
    socket_ = -1;
    return;
  }
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Connection::~Connection() {
  if (is_open()) ::close(socket_);
}

Answered Connection::ask(std::string_view method, std::string_view path, std::string_view body,
                         std::string_view more_headers) {
  std::string request = std::string(method) + " " + std::string(path) +
                        " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + std::string(more_headers);
  if (!body.empty()) {
    request +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  send(request + "\r\n" + std::string(body));
  std::string head = read_head();
  constexpr std::string_view kLength = "Content-Length: ";
  std::size_t length = head.find(kLength);
  if (length == head.npos) exit_with("An answer without a length: " + head);
  Answered answer;
  answer.status = static_cast<int>(number_of(std::string_view(head).substr(9, 3), 10));
  answer.body = read_exactly(number_of(std::string_view(head).substr(length + kLength.size()), 10));
  return answer;
}

void Connection::open_events(std::string_view path) {
  send("GET " + std::string(path) +
       " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n");
  std::string head = read_head();
  if (head.find(" 200 ") == head.npos) exit_with("No stream: " + head);
}

std::string Connection::next_event() {
  constexpr std::string_view kData = "data: ";
  while (true) {
    std::size_t end = text_.find("\n\n");
    if (end == text_.npos) {
      if (!read_chunk()) return "";
      continue;
    }
    std::string event = text_.substr(0, end + 1);
    text_.erase(0, end + 2);
    std::size_t data = event.find(kData);
    if (data == event.npos) continue;
    data += kData.size();
    return event.substr(data, event.find('\n', data) - data);
  }
}

void Connection::send(std::string_view text) {
  while (!text.empty()) {
    ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) exit_with("The server has closed a connection.");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Connection::receive() {
  std::array<char, 16384> buffer;
  ssize_t came = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (came > 0) held_.append(buffer.data(), static_cast<std::size_t>(came));
  return came > 0;
}

std::string Connection::read_head() {
  std::size_t end = 0;
  while ((end = held_.find("\r\n\r\n")) == held_.npos) {
    if (!receive()) exit_with("The server has closed a connection before its answer.");
  }
  return read_exactly(end + 4);
}

std::string Connection::read_line() {
  std::size_t end = 0;
  while ((end = held_.find("\r\n")) == held_.npos) {
    if (!receive()) return "";
  }
  std::string line = read_exactly(end + 2);
  line.resize(end);
  return line;
}

std::string Connection::read_exactly(std::size_t bytes) {
  while (held_.size() < bytes) {
    if (!receive()) exit_with("The server has closed a connection within its answer.");
  }
  std::string text = held_.substr(0, bytes);
  held_.erase(0, bytes);
  return text;
}

bool Connection::read_chunk() {
  std::size_t bytes = number_of(read_line(), 16);
  if (bytes == 0) return false;
  text_ += read_exactly(bytes);
  read_exactly(2);
  return true;
}

int free_port() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    exit_with("No port of 127.0.0.1 is free.");
  }
  ::close(socket);
  return ntohs(address.sin_port);
}

}  // namespace belay::bench
