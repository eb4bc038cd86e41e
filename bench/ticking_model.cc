#include "bench/ticking_model.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "bench/pages.h"

namespace belay::bench {
namespace {

constexpr std::chrono::milliseconds between_pieces{2};

void send_text(int socket, const std::string& text) {
  (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

// Returns one line of the response, as an HTTP chunk.
std::string piece(const std::string& text, bool is_last) {
  std::string line = R"({"model":"tick","created_at":"2026-01-01T00:00:00Z","message":)"
                     R"({"role":"assistant","content":")" +
                     text + R"("},"done":)" + (is_last ? "true" : "false");
  if (is_last) line += R"(,"done_reason":"stop","prompt_eval_count":9,"eval_count":200)";
  line += "}\n";
  std::array<char, 20> size;
  std::snprintf(size.data(), size.size(), "%zx\r\n", line.size());
  return size.data() + line + "\r\n";
}

// Reads a request with its body; "" if the client has closed the connection.
std::string read_request(int socket) {
  std::string text;
  std::array<char, 16384> buffer;
  while (true) {
    std::size_t head = text.find("\r\n\r\n");
    if (head != text.npos) {
      std::size_t length = text.find("Content-Length: ");
      std::size_t body = length < head ? std::strtoul(text.c_str() + length + 16, nullptr, 10) : 0;
      if (text.size() >= head + 4 + body) return text;
    }
    ssize_t came = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (came <= 0) return "";
    text.append(buffer.data(), static_cast<std::size_t>(came));
  }
}

}  // namespace

std::int64_t now_microseconds() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

TickingModel::TickingModel() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    exit_with("The model of this benchmark cannot listen.");
  }
  port_ = ntohs(address.sin_port);
  accepts_ = std::thread([this] {
    while (true) {
      int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      std::lock_guard lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  });
}

TickingModel::~TickingModel() {
  ::shutdown(listener_, SHUT_RDWR);
  accepts_.join();
  for (int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  for (std::thread& thread : threads_) thread.join();
  for (int socket : sockets_) ::close(socket);
  ::close(listener_);
}

void TickingModel::serve(int socket) {
  int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  while (true) {
    std::string request = read_request(socket);
    if (request.empty()) return;
    answer(socket, request.find("hang") != request.npos);
  }
}

void TickingModel::answer(int socket, bool hangs) {
  send_text(socket,
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
  if (hangs) {
    send_text(socket, piece("one", false));
    ++hanging_;
    (void)read_request(socket);
    given_up_at_ = now_microseconds();
    ++given_up_;
    return;
  }
  for (int i = 0; i < pieces; ++i) {
    std::this_thread::sleep_for(between_pieces);
    send_text(socket, piece(std::to_string(now_microseconds()) + " ", false));
  }
  send_text(socket, piece("", true) + "0\r\n\r\n");
}

}  // namespace belay::bench
