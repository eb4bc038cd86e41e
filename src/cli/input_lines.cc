#include "cli/input_lines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/start_thread.h"

namespace belay::cli {
namespace {

constexpr std::size_t kLinesWaitingMax = 16;
constexpr std::size_t kBlockBytes = 64 * 1024;

}  // namespace

struct InputLines::Shared {
  Executor& executor;
  const std::size_t bytes_max;
  tools::Descriptor waker;
  InputHandlers handlers;  // used on the executor

  std::mutex mutex{};
  std::condition_variable changed{};
  // Protected by the mutex.
  std::size_t waiting = 0;  // lines that no handler has received
  bool is_stopping = false;

  // Used only by the thread.
  std::string line{};
  bool is_long = false;

  Shared(Executor& used, std::size_t line_bytes_max, tools::Descriptor wakes, InputHandlers given)
      : executor(used),
        bytes_max(line_bytes_max),
        waker(std::move(wakes)),
        handlers(std::move(given)) {}

  bool may_post() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_stopping || waiting < kLinesWaitingMax; });
    if (!is_stopping) ++waiting;
    return !is_stopping;
  }

  // On the executor. Returns false if the handlers must not be called any more.
  bool receive() {
    std::lock_guard lock(mutex);
    --waiting;
    changed.notify_one();
    return !is_stopping;
  }

  static bool post(const std::shared_ptr<Shared>& self, std::function<void()> handler) {
    if (!self->may_post()) return false;
    self->executor.post([self, handler = std::move(handler)] {
      if (self->receive()) handler();
    });
    return true;
  }

  static bool end_line(const std::shared_ptr<Shared>& self) {
    std::string text = std::exchange(self->line, {});
    if (std::exchange(self->is_long, false)) return post(self, self->handlers.on_long_line);
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) return true;
    return post(self,
                [shared = self.get(), text = std::move(text)] { shared->handlers.on_line(text); });
  }

  static bool take(const std::shared_ptr<Shared>& self, std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t end = bytes.find('\n');
      std::string_view part = bytes.substr(0, end);
      self->is_long = self->is_long || self->line.size() + part.size() > self->bytes_max;
      if (self->is_long) {
        self->line.clear();
      } else {
        self->line += part;
      }
      if (end == bytes.npos) return true;
      bytes.remove_prefix(end + 1);
      if (!end_line(self)) return false;
    }
    return true;
  }
};

Result<std::unique_ptr<InputLines>> InputLines::open(Executor& executor, int descriptor,
                                                     std::size_t bytes_max,
                                                     InputHandlers handlers) {
  tools::Descriptor waker(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!waker.is_open()) {
    return error(ErrorCode::unavailable, "No more files can be opened. Raise the limit (ulimit).");
  }
  auto shared =
      std::make_shared<Shared>(executor, bytes_max, std::move(waker), std::move(handlers));
  return std::unique_ptr<InputLines>(std::make_unique<InputLines>(std::move(shared), descriptor));
}

InputLines::InputLines(std::shared_ptr<Shared> shared, int descriptor)
    : shared_(std::move(shared)),
      thread_(start_thread([held = shared_, descriptor] { read_all(held, descriptor); })) {}

InputLines::~InputLines() {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->is_stopping = true;
  }
  shared_->changed.notify_all();
  std::uint64_t one = 1;
  static_cast<void>(::write(shared_->waker.number(), &one, sizeof one) == sizeof one);
  thread_.join();
}

void InputLines::read_all(const std::shared_ptr<Shared>& shared, int descriptor) {
  std::string block(kBlockBytes, '\0');
  while (true) {
    std::array<pollfd, 2> events{{{descriptor, POLLIN, 0}, {shared->waker.number(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0) continue;  // EINTR
    if (events[1].revents != 0) return;
    ssize_t count = ::read(descriptor, block.data(), block.size());
    bool is_later = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (is_later) continue;
    if (count <= 0) break;
    std::string_view bytes(block.data(), static_cast<std::size_t>(count));
    if (!Shared::take(shared, bytes)) return;
  }
  if (!Shared::end_line(shared)) return;
  Shared::post(shared, shared->handlers.on_end);
}

}  // namespace belay::cli
