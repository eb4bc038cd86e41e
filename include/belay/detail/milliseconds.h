#pragma once
// belay/detail/milliseconds.h - std::chrono durations as numbers of milliseconds, for codec.h: what
// is written reads back as the same duration.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <utility>

namespace belay::codec {

// A duration's milliseconds where they are whole and fit.
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

// The same rounded, for one with a fraction.
template <typename Rep, typename Period>
double rounded_milliseconds(std::chrono::duration<Rep, Period> value) {
  using Each = std::ratio_divide<Period, std::milli>;
  return static_cast<double>(static_cast<long double>(value.count()) * Each::num / Each::den);
}

// The duration that whole milliseconds come to; nothing when it has no such value.
template <typename Duration>
std::optional<Duration> duration_of(std::int64_t milliseconds) {
  using Rep = typename Duration::rep;
  using Each = std::ratio_divide<typename Duration::period, std::milli>;
  std::int64_t parts = 0;
  if (__builtin_mul_overflow(milliseconds, Each::den, &parts)) return std::nullopt;
  if (parts % Each::num != 0 || !std::in_range<Rep>(parts / Each::num)) return std::nullopt;
  return Duration(static_cast<Rep>(parts / Each::num));
}

// The duration that is written as just this number; nothing when there is none.
template <typename Duration>
std::optional<Duration> duration_of(double milliseconds) {
  using Rep = typename Duration::rep;
  using Each = std::ratio_divide<typename Duration::period, std::milli>;
  long double count = std::round(static_cast<long double>(milliseconds) * Each::den / Each::num);
  // 2^63 is a long double, and the largest int64_t is one less.
  constexpr auto end = static_cast<long double>(std::uint64_t{1} << 63);
  if (!(count >= -end && count < end)) return std::nullopt;
  auto whole = static_cast<std::int64_t>(count);
  if (!std::in_range<Rep>(whole)) return std::nullopt;
  Duration value(static_cast<Rep>(whole));
  if (rounded_milliseconds(value) != milliseconds) return std::nullopt;
  return value;
}

}  // namespace belay::codec
