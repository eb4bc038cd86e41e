#include "cli/output_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>

namespace belay::cli {
namespace {

// A pipe that poll() reports as writable accepts so many bytes in one call.
constexpr std::size_t kBytesAtOnce = 4'096;
constexpr std::chrono::milliseconds kPauseOfWriter{5};

bool accepts_bytes(int descriptor) {
  pollfd event{descriptor, POLLOUT, 0};
  return ::poll(&event, 1, 0) == 1;
}

}  // namespace

Task<bool> OutputLines::write(std::string line) {
  line += '\n';
  ++pending_;
  auto task = write_in_turn(std::move(line));
  co_return co_await writes_.wait<bool>(std::move(task));
}

Task<bool> OutputLines::write_in_turn(std::string line) {
  if (pending_ > 1) {
    Completion<Done> turn;
    turns_.push_back(turn);
    co_await turn;
  }
  bool is_written = co_await write_bytes(std::move(line));
  --pending_;
  if (!turns_.empty()) {
    turns_.front().complete(Done{});
    turns_.pop_front();
  }
  co_return is_written;
}

Task<bool> OutputLines::write_bytes(std::string line) const {
  std::string_view rest = line;
  while (!rest.empty()) {
    if (!accepts_bytes(descriptor_)) {
      co_await sleep_for(kPauseOfWriter);
      continue;
    }
    ssize_t count = ::write(descriptor_, rest.data(), std::min(rest.size(), kBytesAtOnce));
    if (count < 0 && errno != EINTR && errno != EAGAIN) co_return false;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  co_return true;
}

}  // namespace belay::cli
