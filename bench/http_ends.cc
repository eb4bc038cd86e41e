// bench/http_ends.cc - server and clients for the measurements of src/http in bench/http_bench.sh.
//
//   http_ends serve
//       prints its port; returns a small JSON document for / and a stream without events for
//       /stream, until it is killed
//   http_ends open PORT COUNT PATH
//       opens COUNT streams, prints a line, keeps them open until its input ends
//   http_ends stall PORT COUNT
//       opens COUNT connections, sends half of a request head on each, prints a line, keeps them
//       open until its input ends

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "http/server.h"

namespace {

using namespace belay;

class SilentStream final : public http::BodyStream {
 public:
  Task<Result<std::string>> next() override {
    co_await sleep_for(std::chrono::hours(24));
    co_return std::string("tick");
  }
};

Task<http::Response> answer(http::Request request) {
  http::Response response;
  if (request.path == "/stream") {
    response.headers.push_back({"Content-Type", "text/event-stream"});
    response.stream = std::make_unique<SilentStream>();
  } else {
    response.headers.push_back({"Content-Type", "application/json"});
    response.body = R"({"status":"ok"})";
  }
  co_return response;
}

int serve() {
  auto loop = http::make_asio_loop();
  auto clock = system_clock();
  auto server = http::Server::listen(*loop, *clock, {}, answer);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  loop->run();
  return 0;
}

// Returns -1 if the connection fails.
int connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ? socket
                                                                                        : -1;
}

int hold() {
  std::puts("open");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;  // the kernel closes them
}

int open_streams(int port, int count, const std::string& path) {
  const std::string request = "GET " + path +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                              "Accept: text/event-stream\r\n\r\n";
  std::array<char, 1024> buffer;
  for (int i = 0; i < count; ++i) {
    int socket = connect_to(port);
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
        ::recv(socket, buffer.data(), buffer.size(), 0) <= 0) {
      std::perror("http_ends: a stream could not be opened (ulimit -n?)");
      return 1;
    }
  }
  return hold();
}

int stall(int port, int count) {
  constexpr std::string_view kHalf = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: yyyy";
  for (int i = 0; i < count; ++i) {
    if (::send(connect_to(port), kHalf.data(), kHalf.size(), MSG_NOSIGNAL) < 0) {
      std::perror("http_ends: a connection could not be opened (ulimit -n?)");
      return 1;
    }
  }
  return hold();
}

int number_of(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "serve") return serve();
  if (arguments.size() == 4 && arguments[0] == "open") {
    return open_streams(number_of(arguments[1]), number_of(arguments[2]), arguments[3]);
  }
  if (arguments.size() == 3 && arguments[0] == "stall") {
    return stall(number_of(arguments[1]), number_of(arguments[2]));
  }
  std::fprintf(stderr,
               "usage: http_ends serve | http_ends open PORT COUNT PATH | "
               "http_ends stall PORT COUNT\n");
  return 2;
}
