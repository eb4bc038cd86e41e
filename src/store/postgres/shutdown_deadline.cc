#include "store/postgres/shutdown_deadline.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace belay::postgres {

ShutdownDeadline::ShutdownDeadline() : handle_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ShutdownDeadline::~ShutdownDeadline() {
  if (handle_ >= 0) ::close(handle_);
}

void ShutdownDeadline::set(bool is_so) {
  if (is_so_ == is_so) return;
  std::uint64_t count = 1;
  if (is_so) {
    since_ = std::chrono::steady_clock::now().time_since_epoch().count();
    is_so_ = true;
    [[maybe_unused]] auto written = ::write(handle_, &count, sizeof count);
  } else {
    is_so_ = false;
    [[maybe_unused]] auto read = ::read(handle_, &count, sizeof count);
  }
}

std::optional<ShutdownDeadline::Time> ShutdownDeadline::end_for(Time begun) const {
  if (!is_so_) return std::nullopt;
  Time since{Time::duration(since_.load())};
  return std::max(begun, since) + patience;
}

}  // namespace belay::postgres
