#pragma once
// cron/fields.h - the permitted values of a cron expression's fields, as sets of bits.

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>

namespace belay::cron {

// A set of numbers from 0 to 63: bit n is the number n.
using Bits = std::uint64_t;

constexpr Bits bit(unsigned number) { return Bits{1} << number; }
constexpr bool has(Bits set, unsigned number) { return (set >> number & 1) != 0; }
// Returns the bits `first` to `last`. REQUIRES: first <= last < 64.
constexpr Bits bits_from(unsigned first, unsigned last) {
  return (~Bits{0} >> (63 - last)) & (~Bits{0} << first);
}
constexpr unsigned count_of(Bits set) { return static_cast<unsigned>(std::popcount(set)); }
// REQUIRES: the set is not empty.
constexpr unsigned lowest_of(Bits set) { return static_cast<unsigned>(std::countr_zero(set)); }
constexpr unsigned highest_of(Bits set) {
  return 63u - static_cast<unsigned>(std::countl_zero(set));
}

inline constexpr Bits all_seconds = bits_from(0, 59);
inline constexpr Bits all_minutes = bits_from(0, 59);
inline constexpr Bits all_hours = bits_from(0, 23);
inline constexpr Bits all_days = bits_from(1, 31);
inline constexpr Bits all_months = bits_from(1, 12);
inline constexpr Bits all_weekdays = bits_from(0, 6);

struct Fields {
  Bits seconds = bit(0);
  Bits minutes = 0;
  Bits hours = 0;
  Bits months = 0;  // 1 to 12

  // The field "day of month".
  Bits days = 0;              // 1 to 31
  Bits days_before_last = 0;  // L is 0, L-3 is 3
  Bits near_days = 0;         // 15W is 15: the day from Monday to Friday that is nearest to it
  bool last_workday = false;  // LW: the last day from Monday to Friday

  // The field "day of week"; Sunday is 0.
  Bits weekdays = 0;
  std::array<Bits, 5> nth_weekdays{};  // FRI#2 is Friday in element 1
  Bits last_weekdays = 0;              // FRI#L

  // If both fields restrict the days, a day must match one of them, or both of them (+FRI). A field
  // that permits every day has only its `any_` member set, so that equal rules have equal members.
  bool any_day = false;
  bool any_weekday = false;
  bool both_days = false;

  // True if the field has a wildcard, or a step that yields several values.
  bool repeats_second = false;
  bool repeats_minute = false;
  bool repeats_hour = false;

  // The ticks of such an expression follow elapsed time, others are wall-clock times: see
  // schedule.h.
  bool is_repeating() const { return repeats_second || repeats_minute || repeats_hour; }

  friend bool operator==(const Fields&, const Fields&) = default;
};

}  // namespace belay::cron
