#include "store/postgres/haste.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace belay::postgres {

Haste::Haste() : handle_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Haste::~Haste() {
  if (handle_ >= 0) ::close(handle_);
}

void Haste::set(bool is_so) {
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

std::optional<Haste::Time> Haste::end_for(Time begun) const {
  if (!is_so_) return std::nullopt;
  Time since{Time::duration(since_.load())};
  return std::max(begun, since) + patience;
}

}  // namespace belay::postgres
