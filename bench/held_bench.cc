// Measures the memory that clients can make `serve` allocate: 300 connections without a key that
// have each sent a megabyte except its last byte, and a slow and a fast reader of `values` events
// of a state of 2 MB.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "bench/connection.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/served_program.h"

namespace {

using namespace belay::bench;
using namespace std::chrono_literals;

constexpr int connections = 300;
constexpr std::size_t body_bytes = 1u << 20;

// A socket; the caller determines how fast it reads.
class Client {
 public:
  // `receive_bytes`: size of the receive buffer; 0: the system's default.
  Client(int port, int receive_bytes) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      exit_with("The server does not accept a connection.");
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  // Sends as much as the server accepts: it can close the connection before the end.
  void send(const std::string& text) const {
    std::size_t sent = 0;
    while (sent < text.size()) {
      ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  // Returns false at the end of the stream.
  bool read(std::size_t bytes) {
    text_.resize(bytes);
    ssize_t count = ::recv(socket_, text_.data(), bytes, 0);
    read_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    return count > 0;
  }
  std::size_t read_bytes() const { return read_; }

 private:
  int socket_;
  std::size_t read_ = 0;
  std::string text_;
};

void bodies_without_a_key(const std::string& folder) {
  std::string keys = folder + "/keys";
  std::ofstream(keys) << "ana run token-of-ana-0001\n";
  ::chmod(keys.c_str(), 0600);
  ServedProgram served(BELAY_LARGE_STATE, "memory:", {}, {"--api-keys", keys});
  double idle = served.idle_megabytes();
  double most = idle;
  std::string body(body_bytes - 1, ' ');
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<Client>(served.port(), 0));
    clients.back()->send(
        "POST /api/agents/load/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Content-Type: application/json\r\nContent-Length: " +
        std::to_string(body_bytes) + "\r\n\r\n" + body);
    most = std::max(most, served.resident_megabytes());
  }
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(100ms);
    most = std::max(most, served.resident_megabytes());
  }
  std::printf("| %d connections without a key, 1 MiB sent by each | %.1f | %.1f | 64 in all |\n",
              connections, idle, most);
}

void reader_of_values(const std::string& folder, bool is_slow) {
  ServedProgram served(BELAY_LARGE_STATE, "sqlite:" + folder + (is_slow ? "/slow.db" : "/fast.db"),
                       {});
  Connection connection(served.port());
  Answered run = connection.ask("POST", "/api/agents/load/runs", R"({"input":{},"threadId":"t"})");
  if (run.status != 200) exit_with("The run: " + run.body.substr(0, 200));
  double idle = served.idle_megabytes();
  double most = idle;
  Client reader(served.port(), is_slow ? 4'096 : 0);
  reader.send(
      "GET /api/threads/t/events?kinds=values HTTP/1.1\r\nHost: 127.0.0.1\r\n"
      "Accept: text/event-stream\r\n\r\n");
  auto until = std::chrono::steady_clock::now() + 10s;
  std::size_t looked_at = 0;
  while (std::chrono::steady_clock::now() < until) {
    if (!reader.read(is_slow ? 1'000 : 1u << 18)) break;
    if (is_slow) std::this_thread::sleep_for(100ms);
    if (is_slow || reader.read_bytes() - looked_at > 4'000'000) {
      looked_at = reader.read_bytes();
      most = std::max(most, served.resident_megabytes());
    }
  }
  std::printf("| a %s reader of `values`, %.1f MB read | %.1f | %.1f | 40 more |\n",
              is_slow ? "slow" : "fast", static_cast<double>(reader.read_bytes()) / 1e6, idle,
              most);
}

}  // namespace

int main(int argc, char** argv) {
  Options options = options_from(argc, argv);
  Workplace place(options.directory);
  std::printf("Resident memory of the server, MB.\n\n");
  std::printf("| | idle | at most | goal |\n|---|---|---|---|\n");
  bodies_without_a_key(place.path);
  reader_of_values(place.path, true);
  reader_of_values(place.path, false);
}
