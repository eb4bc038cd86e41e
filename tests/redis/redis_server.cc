#include "tests/redis/redis_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace belay::tests {
namespace {

using std::chrono::milliseconds;

sockaddr_in loopback(int port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

// Returns a socket that listens on a free port.
int listen_somewhere(int& port) {
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = loopback(0);
  socklen_t size = sizeof name;
  ::bind(listener, reinterpret_cast<sockaddr*>(&name), size);
  ::listen(listener, 16);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size);
  port = ntohs(name.sin_port);
  return listener;
}

bool answers(int port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = loopback(port);
  bool is_there = ::connect(socket, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  ::close(socket);
  return is_there;
}

}  // namespace

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return condition();
}

RedisServer::RedisServer(std::vector<std::string> more_options)
    : RedisServer(Certificate(), more_options) {}

RedisServer::RedisServer(const Certificate& certificate,
                         const std::vector<std::string>& more_options)
    : certificate_(certificate), more_options_(more_options) {
  std::string name = std::filesystem::temp_directory_path() / "belay-redis-XXXXXX";
  folder_ = ::mkdtemp(name.data());
  start();
}

RedisServer::~RedisServer() {
  kill();
  std::filesystem::remove_all(folder_);
}

std::string RedisServer::url(const std::string& login, int database) const {
  std::string at = login.empty() ? "" : login + "@";
  return (speaks_tls() ? "rediss://" : "redis://") + at + "127.0.0.1:" + std::to_string(port_) +
         "/" + std::to_string(database);
}

void RedisServer::start() {
  for (int i = 0; i < 5; ++i) {
    if (port_ == 0) ::close(listen_somewhere(port_));
    if (try_start()) return;
    kill();
    port_ = 0;
  }
  std::fputs("redis-server does not start\n", stderr);
  std::abort();
}

bool RedisServer::try_start() {
  std::vector<std::string> words{
      "redis-server", "--port",        speaks_tls() ? "0" : std::to_string(port_),
      "--bind",       "127.0.0.1",     "--dir",
      folder_,        "--save",        "",
      "--logfile",    folder_ + "/log"};
  if (speaks_tls()) {
    words.insert(words.end(),
                 {"--tls-port", std::to_string(port_), "--tls-cert-file", certificate_.file,
                  "--tls-key-file", certificate_.key_file, "--tls-auth-clients", "no"});
  }
  words.insert(words.end(), more_options_.begin(), more_options_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  return becomes_true([this] {
           return answers(port_) || ::waitpid(process_, nullptr, WNOHANG) == process_;
         }) &&
         answers(port_);
}

void RedisServer::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void RedisServer::freeze() { ::kill(process_, SIGSTOP); }
void RedisServer::thaw() { ::kill(process_, SIGCONT); }

ScriptedRedis::ScriptedRedis(Script script) : script_(std::move(script)) {
  listener_ = listen_somewhere(port_);
  thread_ = std::thread([this] { serve(); });
}

ScriptedRedis::~ScriptedRedis() {
  is_ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  if (int socket = current_; socket >= 0) ::shutdown(socket, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

void ScriptedRedis::serve() {
  while (!is_ending_) {
    int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    current_ = socket;
    if (!is_ending_) script_(socket, connections_++);
    current_ = -1;
    ::close(socket);
  }
}

bool ScriptedRedis::greet(int socket) {
  if (!expect(socket, "PING\r\n")) return false;
  say(socket, "+PONG\r\n");
  return true;
}

bool ScriptedRedis::expect(int socket, std::string_view text) {
  std::string heard;
  while (heard.find(text) == std::string::npos) {
    std::array<char, 1024> piece;
    auto came = ::recv(socket, piece.data(), piece.size(), 0);
    if (came <= 0) return false;
    heard.append(piece.data(), static_cast<std::size_t>(came));
  }
  return true;
}

void ScriptedRedis::say(int socket, std::string_view text) {
  [[maybe_unused]] auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

void ScriptedRedis::wait_for_end(int socket) {
  std::array<char, 1024> piece;
  while (::recv(socket, piece.data(), piece.size(), 0) > 0) {
  }
}

redis::ClientOptions patient(const std::string& url, const std::string& ca_file) {
  redis::ClientOptions options;
  options.link.address = redis::address_from(url).value();
  options.link.ca_file = ca_file;
  options.link.connect_timeout = milliseconds(10'000);
  options.link.reply_timeout = milliseconds(10'000);
  return options;
}

std::unique_ptr<redis::Client> connected(const std::string& url, Random& random,
                                         const std::string& ca_file) {
  auto client = std::make_unique<redis::Client>(patient(url, ca_file), random);
  if (!client->wait_until_up(milliseconds(10'000))) std::abort();
  return client;
}

}  // namespace belay::tests
