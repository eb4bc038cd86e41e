#include "tests/support/http_server_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <future>

#include "belay/result.h"

namespace belay::http {

Client::Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  BELAY_ASSERT(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Client::end_sending() { ::shutdown(socket_, SHUT_WR); }

void Client::reset() {
  linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(std::exchange(socket_, -1));
}

bool Client::receive() {
  std::array<char, 64 * 1024> buffer;
  ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got > 0) held_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::string Client::read_until(std::string_view end) {
  std::size_t found = held_.find(end);
  while (found == held_.npos) {
    if (!receive()) return {};
    found = held_.find(end);
  }
  return read_bytes(found + end.size());
}

std::string Client::read_bytes(std::size_t count) {
  while (held_.size() < count) {
    if (!receive()) return {};
  }
  std::string bytes = held_.substr(0, count);
  held_.erase(0, count);
  return bytes;
}

std::string Client::read_all() {
  while (receive()) {
  }
  return std::exchange(held_, {});
}

std::string Client::answer() {
  std::string head = read_until("\r\n\r\n");
  std::size_t named = head.find("Content-Length: ");
  if (named == head.npos) return head;
  return head + read_bytes(std::strtoull(head.c_str() + named + 16, nullptr, 10));
}

int Client::status_of_answer() { return status_of(answer()); }

std::string exchange(int port, std::string_view request) {
  Client client(port);
  client.send(request);
  return client.read_all();
}

int status_of(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.1 ")) return 0;
  return static_cast<int>(std::strtol(std::string(answer.substr(9, 3)).c_str(), nullptr, 10));
}

std::string_view body_of(std::string_view answer) {
  std::size_t end = answer.find("\r\n\r\n");
  return end == answer.npos ? std::string_view() : answer.substr(end + 4);
}

HttpServerFixture::HttpServerFixture(Handler handler, ServerOptions options)
    : loop_(make_asio_loop()), clock_(system_clock()) {
  auto listening = Server::listen(*loop_, *clock_, std::move(options), std::move(handler));
  BELAY_ASSERT(listening.ok());
  server_ = *std::move(listening);
  port_ = server_->port();
  thread_ = std::thread([this] { loop_->run(); });
}

HttpServerFixture::~HttpServerFixture() {
  on_loop([this] { server_.reset(); });
  loop_->stop();
  thread_.join();
}

void HttpServerFixture::on_loop(std::function<void()> work) {
  std::promise<void> done;
  loop_->post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

ServerCounts HttpServerFixture::counts() {
  ServerCounts counts;
  on_loop([&] { counts = server_->counts(); });
  return counts;
}

void HttpServerFixture::wait_for(std::function<bool(const ServerCounts&)> enough) {
  while (!enough(counts())) std::this_thread::yield();
}

namespace {

struct CountedEnd {
  explicit CountedEnd(std::atomic<int>& ends) : ends_(ends) {}
  CountedEnd(const CountedEnd&) = delete;
  CountedEnd& operator=(const CountedEnd&) = delete;
  ~CountedEnd() { ++ends_; }

 private:
  std::atomic<int>& ends_;
};

}  // namespace

Handler HeldHandler::handler() {
  return [this](Request request) { return hold(std::move(request)); };
}

Task<Response> HeldHandler::hold(Request request) {
  CountedEnd end(destroyed);
  ++begun;
  Completion<Done> told;
  {
    std::lock_guard lock(mutex_);
    if (released_) told.complete(Done{});
    waiting_.push_back(told);
  }
  co_await told;
  Response response;
  response.body = text_ + request.path;
  co_return response;
}

void HeldHandler::release(std::string text) {
  std::lock_guard lock(mutex_);
  text_ = std::move(text);
  released_ = true;
  for (const Completion<Done>& told : waiting_) told.complete(Done{});
}

namespace {

Task<Response> give(Response response) { co_return response; }

}  // namespace

Handler answering(std::function<Response(const Request&)> answer) {
  return [answer = std::move(answer)](const Request& request) { return give(answer(request)); };
}

}  // namespace belay::http
