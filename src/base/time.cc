#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "belay/clock.h"
#include "belay/result.h"

namespace belay {
namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

class SystemClock final : public Clock {
 public:
  Instant now() override {
    return std::chrono::floor<microseconds>(std::chrono::system_clock::now());
  }
};

// Number of forks of this process. A forked child must discard its buffered random numbers: its
// parent uses the same ones.
std::atomic<std::uint32_t> forks = 0;

class SystemRandom final : public Random {
 public:
  SystemRandom() {
    static const int watched = pthread_atfork(nullptr, nullptr, [] { ++forks; });
    BELAY_ASSERT(watched == 0);
  }

  // Reads 32 numbers per call from the kernel's generator: one system call per number would cost
  // more than a whole superstep. (std::random_device can use the processor's generator, which can
  // take 5 us.)
  std::uint64_t bits() override {
    std::lock_guard lock(mutex_);
    if (next_ == numbers_.size() || forks_seen_ != forks) {
      int worked = getentropy(numbers_.data(), sizeof numbers_);
      BELAY_ASSERT(worked == 0);
      forks_seen_ = forks;
      next_ = 0;
    }
    return std::exchange(numbers_[next_++], 0);
  }

 private:
  std::mutex mutex_;
  // Protected by mutex_.
  std::array<std::uint64_t, 32> numbers_{};
  std::size_t next_ = numbers_.size();
  std::uint32_t forks_seen_ = 0;
};

// Appends `number` with at least `width` digits.
void append_padded(std::string& out, std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

// Parses exactly `count` digits at `offset`; nullopt if they are not all digits.
std::optional<int> digits_at(std::string_view text, std::size_t offset, std::size_t count) {
  if (text.size() < offset + count) return std::nullopt;
  int number = 0;
  for (char c : text.substr(offset, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

std::optional<sys_days> day_from(std::string_view text) {
  auto year = digits_at(text, 0, 4);
  auto month = digits_at(text, 5, 2);
  auto day = digits_at(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-' || *year == 0) {
    return std::nullopt;
  }
  year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                      std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return sys_days(date);
}

void append_date(std::string& out, sys_days day) {
  year_month_day date(day);
  append_padded(out, static_cast<int>(date.year()), 4);
  out.push_back('-');
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out.push_back('-');
  append_padded(out, static_cast<unsigned>(date.day()), 2);
}

std::string moved_date(std::string_view date, days by) {
  std::string out;
  append_date(out, *day_from(date) + by);
  return out;
}

}  // namespace

std::unique_ptr<Clock> system_clock() { return std::make_unique<SystemClock>(); }
std::unique_ptr<Random> system_random() { return std::make_unique<SystemRandom>(); }

std::string to_text(Instant instant) {
  sys_days day = std::chrono::floor<days>(instant);
  std::int64_t rest = (instant - Instant(day)).count();
  std::string out;
  append_date(out, day);
  out.push_back('T');
  append_padded(out, rest / 3'600'000'000, 2);
  out.push_back(':');
  append_padded(out, rest / 60'000'000 % 60, 2);
  out.push_back(':');
  append_padded(out, rest / 1'000'000 % 60, 2);
  out.push_back('.');
  append_padded(out, rest % 1'000'000, 6);
  out.push_back('Z');
  return out;
}

std::optional<Instant> instant_from(std::string_view text) {
  if (text.size() < 20 || text.back() != 'Z') return std::nullopt;
  auto day = day_from(text.substr(0, 10));
  auto hour = digits_at(text, 11, 2);
  auto minute = digits_at(text, 14, 2);
  auto second = digits_at(text, 17, 2);
  if (!day || !hour || !minute || !second || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  std::int64_t fraction = 0;
  std::string_view rest = text.substr(19, text.size() - 20);
  if (!rest.empty()) {
    if (rest[0] != '.' || rest.size() > 7 || rest.size() < 2) return std::nullopt;
    auto digits = digits_at(rest, 1, rest.size() - 1);
    if (!digits) return std::nullopt;
    fraction = *digits;
    for (std::size_t i = rest.size(); i < 7; ++i) fraction *= 10;
  }
  return Instant(*day) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + microseconds(fraction);
}

bool is_date(std::string_view text) { return text.size() == 10 && day_from(text).has_value(); }
std::string day_before(std::string_view date) { return moved_date(date, days(-1)); }
std::string day_after(std::string_view date) { return moved_date(date, days(1)); }

}  // namespace belay
