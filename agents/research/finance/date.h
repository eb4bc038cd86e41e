#pragma once
// agents/research/finance/date.h - dates and months of the proleptic Gregorian calendar.
//
// Pure values without clocks and time zones.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay::research {

struct Date {
  std::int32_t days = 0;  // since 1970-01-01; negative before

  auto operator<=>(const Date&) const = default;

  // Reads exactly "YYYY-MM-DD". Empty unless it is a day of the calendar, 0001-01-01 to 9999-12-31.
  static std::optional<Date> parse(std::string_view text);

  std::string text() const;  // "2024-02-29"
  int year() const;
  int month() const;  // 1 to 12
  int day() const;    // 1 to 31
};

// Returns the days from `b` to `a`, negative if `a` is earlier.
inline int operator-(Date a, Date b) { return a.days - b.days; }

// A calendar month.
struct Month {
  std::int32_t months = 0;  // since January of year 0

  auto operator<=>(const Month&) const = default;

  // Reads exactly "YYYY-MM" or "YYYY-MM-DD". Empty unless it is a month of the years 1 to 9999, and
  // the day, if any, exists in it.
  static std::optional<Month> parse(std::string_view text);
  static Month of(Date date);

  Month minus(int count) const { return Month{months - count}; }
  Month plus(int count) const { return Month{months + count}; }

  std::string text() const;  // "2024-02"
};

// Returns the months from `b` to `a`, negative if `a` is earlier.
inline int operator-(Month a, Month b) { return a.months - b.months; }

}  // namespace belay::research
