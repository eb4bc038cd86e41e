#pragma once
// belay/detail/milliseconds.h - converts std::chrono durations to milliseconds and back, for
// codec.h. A written duration reads back as the same duration.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <utility>

namespace belay::codec {

// Returns the duration in milliseconds if it is a whole number and fits.
template <typename Rep, typename Period>
std::optional<std::int64_t> whole_milliseconds(std::chrono::duration<Rep, Period> value) {
  using Each = std::ratio_divide<Period, std::milli>;
  std::int64_t parts = 0;
  if (!std::in_range<std::int64_t>(value.count())) return std::nullopt;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(value.count()), Each::num, &parts)) {
    return std::nullopt;
  }
  if (parts % Each::den != 0) return std::nullopt;
  return parts / Each::den;
}

// Returns the duration in milliseconds, rounded; for a duration with a fraction.
template <typename Rep, typename Period>
double rounded_milliseconds(std::chrono::duration<Rep, Period> value) {
  using Each = std::ratio_divide<Period, std::milli>;
  return static_cast<double>(static_cast<long double>(value.count()) * Each::num / Each::den);
}

// Returns the duration of whole milliseconds; nothing if Duration cannot represent it exactly.
template <typename Duration>
std::optional<Duration> duration_of(std::int64_t milliseconds) {
  using Rep = typename Duration::rep;
  using Each = std::ratio_divide<typename Duration::period, std::milli>;
  std::int64_t parts = 0;
  if (__builtin_mul_overflow(milliseconds, Each::den, &parts)) return std::nullopt;
  if (parts % Each::num != 0 || !std::in_range<Rep>(parts / Each::num)) return std::nullopt;
  return Duration(static_cast<Rep>(parts / Each::num));
}

// Returns the duration that is written as exactly this number; nothing if none exists.
template <typename Duration>
std::optional<Duration> duration_of(double milliseconds) {
  using Rep = typename Duration::rep;
  using Each = std::ratio_divide<typename Duration::period, std::milli>;
  long double count = std::round(static_cast<long double>(milliseconds) * Each::den / Each::num);
  // 2^63 is exact as a long double; the largest int64_t is one less.
  constexpr auto end = static_cast<long double>(std::uint64_t{1} << 63);
  if (!(count >= -end && count < end)) return std::nullopt;
  auto whole = static_cast<std::int64_t>(count);
  if (!std::in_range<Rep>(whole)) return std::nullopt;
  Duration value(static_cast<Rep>(whole));
  if (rounded_milliseconds(value) != milliseconds) return std::nullopt;
  return value;
}

}  // namespace belay::codec
