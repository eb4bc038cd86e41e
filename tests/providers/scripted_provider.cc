#include "tests/providers/scripted_provider.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace belay::providers {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Asked read_request(const std::string& text) {
  Asked asked;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::istringstream(line) >> asked.method >> asked.path;
  while (std::getline(lines, line) && line != "\r") {
    std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    asked.headers[lower(line.substr(0, colon))] = line.substr(colon + 2, line.size() - colon - 3);
  }
  std::size_t body = text.find("\r\n\r\n");
  if (body == text.npos || body + 4 == text.size()) return asked;
  asked.text = text.substr(body + 4);
  asked.body = parse_json(asked.text).value_or(Value());
  return asked;
}

std::string head_of(const Told& told) {
  std::string head = "HTTP/1.1 " + std::to_string(told.status) +
                     " So\r\ncontent-type: " + told.type + "\r\ntransfer-encoding: chunked\r\n";
  for (const auto& [name, value] : told.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

std::string chunk(const std::string& bytes) {
  std::ostringstream out;
  out << std::hex << bytes.size() << "\r\n" << bytes << "\r\n";
  return std::move(out).str();
}

}  // namespace

ScriptedProvider::ScriptedProvider(Answer answer) : answer_(std::move(answer)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  BELAY_ASSERT(listener_ >= 0 && ::bind(listener_, any, size) == 0 &&
               ::listen(listener_, 64) == 0 && ::getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepts_ = std::thread([this] { accept_all(); });
}

ScriptedProvider::~ScriptedProvider() {
  is_ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  accepts_.join();
  ::close(listener_);
  {
    std::lock_guard lock(mutex_);
    for (int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string ScriptedProvider::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void ScriptedProvider::accept_all() {
  while (true) {
    int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void ScriptedProvider::serve(int socket) {
  net::Peer peer(socket);
  while (!is_ending_) {
    std::string text = peer.request();
    if (text.empty()) break;
    Asked asked = read_request(text);
    asked.times = count(asked.body);
    if (!answer(peer, asked)) break;
  }
  std::lock_guard lock(mutex_);
  sockets_.remove(socket);
}

int ScriptedProvider::count(const Value& body) {
  const std::string* model = body["model"].as_string();
  if (!model) return 1;
  ++requests_;
  std::lock_guard lock(mutex_);
  return ++asked_for_[*model];
}

bool ScriptedProvider::answer(net::Peer& peer, const Asked& asked) {
  Told told;
  if (asked.path == "/seen") {
    told.pieces = {
        to_json(Value::object({{"requests", requests_.load()}, {"closed", closed_.load()}}))};
  } else {
    told = answer_(asked);
  }
  if (told.then == Then::hang && told.pieces.empty()) {
    if (peer.sees_the_end()) ++closed_;
    return false;
  }
  if (!peer.send(head_of(told)) || !send_pieces(peer, told)) {
    ++closed_;
    return false;
  }
  if (told.then == Then::hang && peer.sees_the_end()) ++closed_;
  if (told.then != Then::end) return false;
  return peer.send("0\r\n\r\n");
}

bool ScriptedProvider::send_pieces(net::Peer& peer, const Told& told) {
  for (const std::string& piece : told.pieces) {
    if (!peer.send(chunk(piece))) return false;
    if (told.is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  while (told.then == Then::repeat) {
    if (!peer.send(chunk(told.pieces.back()))) return false;
  }
  return true;
}

}  // namespace belay::providers
