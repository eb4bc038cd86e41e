#include "http/held_loop_responder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/start_thread.h"

namespace belay::http {
namespace {

// A client that has not sent its head by then is passed to the loop: others wait meanwhile.
constexpr std::chrono::milliseconds kHeadWithin{300};
// Pause after the loop has responded: many new connections must not cost a post each.
constexpr int kPauseMs = 20;
constexpr int kLookEveryMs = 50;

// Closes a connection that the loop never takes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

bool is_request_of(std::string_view head, std::string_view path) {
  std::size_t space = head.find(' ');
  if (space == head.npos || (head.substr(0, space) != "GET" && head.substr(0, space) != "HEAD")) {
    return false;
  }
  std::string_view target = head.substr(space + 1);
  if (!target.starts_with(path)) return false;
  std::string_view rest = target.substr(path.size());
  return rest.starts_with(' ') || rest.starts_with('?');
}

std::string response_text(bool is_alive, bool has_body) {
  std::string body = is_alive ? R"({"status":"ok"})"
                              : R"({"status":"unavailable","reason":"A node holds the loop."})";
  std::string status = is_alive ? "200 OK" : "503 Service Unavailable";
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + (has_body ? body : "");
}

}  // namespace

HeldLoopResponder::HeldLoopResponder(AsioLoop& loop, int listening, std::string path, Adopt adopt)
    : loop_(loop), listening_(listening), path_(std::move(path)), adopt_(std::move(adopt)) {
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ >= 0) thread_ = start_thread([this] { watch(); });
}

HeldLoopResponder::~HeldLoopResponder() {
  if (wake_ < 0) return;
  {
    std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    state_->changed.notify_all();
  }
  std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
  thread_.join();
  ::close(wake_);
}

bool HeldLoopResponder::is_stopping() {
  std::lock_guard lock(state_->mutex);
  return state_->is_stopping;
}

bool HeldLoopResponder::wait_readable(int descriptor, int timeout_ms) {
  std::array<pollfd, 2> watched = {pollfd{descriptor, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  int ready = ::poll(watched.data(), watched.size(), timeout_ms);
  return ready > 0 && watched[1].revents == 0 && watched[0].revents != 0;
}

void HeldLoopResponder::watch() {
  while (!is_stopping()) {
    if (!wait_readable(listening_, -1)) continue;
    // A connection waits. A loop that responds accepts it.
    Time since = std::chrono::steady_clock::now();
    bool is_back = false;
    {
      std::unique_lock lock(state_->mutex);
      state_->is_back = false;
      loop_.post([echo = state_] {
        std::lock_guard relock(echo->mutex);
        echo->is_back = true;
        echo->changed.notify_all();
      });
      state_->changed.wait_for(lock, held_min,
                               [this] { return state_->is_back || state_->is_stopping; });
      is_back = state_->is_back;
    }
    if (!is_back) accept_while_held(state_, since);
    (void)wait_readable(wake_, kPauseMs);
  }
}

void HeldLoopResponder::accept_while_held(const std::shared_ptr<Echo>& echo, Time since) {
  while (true) {
    {
      std::lock_guard lock(echo->mutex);
      if (echo->is_back || echo->is_stopping) return;
    }
    if (!wait_readable(listening_, kLookEveryMs)) continue;
    int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      serve(socket, since);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      (void)wait_readable(wake_, kPauseMs);  // no descriptors
    }
  }
}

// Reads the head without taking it: the loop must find the whole request.
void HeldLoopResponder::serve(int socket, Time since) {
  std::array<char, 4096> head{};
  Time until = std::chrono::steady_clock::now() + kHeadWithin;
  while (std::chrono::steady_clock::now() < until && !is_stopping()) {
    ssize_t count = ::recv(socket, head.data(), head.size(), MSG_PEEK);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) break;
    std::string_view text(head.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    if (text.find("\r\n\r\n") != text.npos) {
      if (is_request_of(text, path_)) return answer(socket, since);
      break;
    }
    // A part of the head keeps the socket readable.
    (void)wait_readable(count > 0 ? wake_ : socket, 5);
  }
  pass_on(socket);
}

void HeldLoopResponder::answer(int socket, Time since) {
  std::array<char, 4096> head{};
  ssize_t count = ::recv(socket, head.data(), head.size(), 0);
  bool has_body = count > 0 && head[0] == 'G';
  bool is_alive = std::chrono::steady_clock::now() - since < limit_of_answers;
  std::string text = response_text(is_alive, has_body);
  (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  ::close(socket);
}

void HeldLoopResponder::pass_on(int socket) {
  auto descriptor = std::make_shared<Descriptor>(socket);
  loop_.post([descriptor, adopt = adopt_] { adopt(descriptor->release()); });
}

}  // namespace belay::http
