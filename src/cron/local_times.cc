#include "cron/local_times.h"

#include <algorithm>

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::months;
using std::chrono::seconds;
using std::chrono::year_month;
using std::chrono::year_month_day;

// After this many months, the same days have the same weekdays again.
constexpr int kCalendarMonths = 400 * 12;

struct TimeOfDay {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
};

TimeOfDay split(seconds since_midnight) {
  auto all = static_cast<unsigned>(since_midnight.count());
  return {all / 3'600, all / 60 % 60, all % 60};
}

seconds joined(unsigned hour, unsigned minute, unsigned second) {
  return seconds(hour * 3'600 + minute * 60 + second);
}

// Returns the lowest number of the set that is at least `from`. REQUIRES: from <= 63.
std::optional<unsigned> at_least(Bits set, unsigned from) {
  Bits rest = set & (~Bits{0} << from);
  if (rest == 0) return std::nullopt;
  return lowest_of(rest);
}

// Returns the highest number of the set that is at most `until`. REQUIRES: until <= 63.
std::optional<unsigned> at_most(Bits set, unsigned until) {
  Bits rest = set & (~Bits{0} >> (63 - until));
  if (rest == 0) return std::nullopt;
  return highest_of(rest);
}

unsigned count_below(Bits set, unsigned number) { return count_of(set & (bit(number) - 1)); }

seconds first_time(const Fields& fields) {
  return joined(lowest_of(fields.hours), lowest_of(fields.minutes), lowest_of(fields.seconds));
}

seconds last_time(const Fields& fields) {
  return joined(highest_of(fields.hours), highest_of(fields.minutes), highest_of(fields.seconds));
}

std::optional<seconds> next_time(const Fields& fields, TimeOfDay from) {
  if (has(fields.hours, from.hour)) {
    if (has(fields.minutes, from.minute)) {
      if (auto second = at_least(fields.seconds, from.second)) {
        return joined(from.hour, from.minute, *second);
      }
    }
    if (auto minute = at_least(fields.minutes, from.minute + 1)) {
      return joined(from.hour, *minute, lowest_of(fields.seconds));
    }
  }
  auto hour = at_least(fields.hours, from.hour + 1);
  if (!hour) return std::nullopt;
  return joined(*hour, lowest_of(fields.minutes), lowest_of(fields.seconds));
}

std::optional<seconds> previous_time(const Fields& fields, TimeOfDay until) {
  if (has(fields.hours, until.hour)) {
    if (has(fields.minutes, until.minute)) {
      if (auto second = at_most(fields.seconds, until.second)) {
        return joined(until.hour, until.minute, *second);
      }
    }
    if (until.minute > 0) {
      if (auto minute = at_most(fields.minutes, until.minute - 1)) {
        return joined(until.hour, *minute, highest_of(fields.seconds));
      }
    }
  }
  if (until.hour == 0) return std::nullopt;
  auto hour = at_most(fields.hours, until.hour - 1);
  if (!hour) return std::nullopt;
  return joined(*hour, highest_of(fields.minutes), highest_of(fields.seconds));
}

std::int64_t times_per_day(const Fields& fields) {
  return std::int64_t{count_of(fields.hours)} * count_of(fields.minutes) * count_of(fields.seconds);
}

// Returns the number of matching times of a day that are before `time`.
std::int64_t times_before(const Fields& fields, TimeOfDay time) {
  std::int64_t per_minute = count_of(fields.seconds);
  std::int64_t per_hour = per_minute * count_of(fields.minutes);
  std::int64_t count = per_hour * count_below(fields.hours, time.hour);
  if (!has(fields.hours, time.hour)) return count;
  count += per_minute * count_below(fields.minutes, time.minute);
  if (!has(fields.minutes, time.minute)) return count;
  return count + count_below(fields.seconds, time.second);
}

// The shape of a month: the number of its days, and the weekday of its first one (Sunday is 0).
struct Month {
  unsigned length;
  unsigned first_weekday;

  explicit Month(year_month month) {
    local_days first(month / 1);
    local_days following((month + months(1)) / 1);
    length = static_cast<unsigned>((following - first).count());
    first_weekday = std::chrono::weekday(first).c_encoding();
  }
  unsigned weekday_of(unsigned day) const { return (first_weekday + day - 1) % 7; }
  unsigned first_day_on(unsigned weekday) const { return 1 + (weekday + 7 - first_weekday) % 7; }
};

// Returns the day from Monday to Friday that is nearest to `day` in the same month.
unsigned nearest_workday(const Month& month, unsigned day) {
  unsigned weekday = month.weekday_of(day);
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < month.length ? day + 1 : day - 2;
  return day;
}

unsigned last_workday(const Month& month) {
  unsigned weekday = month.weekday_of(month.length);
  return month.length - (weekday == 6 ? 1 : weekday == 0 ? 2 : 0);
}

Bits days_of_month_field(const Fields& fields, const Month& month) {
  Bits found = fields.days;
  for (Bits rest = fields.days_before_last; rest != 0; rest &= rest - 1) {
    unsigned before = lowest_of(rest);
    if (before < month.length) found |= bit(month.length - before);
  }
  for (Bits rest = fields.near_days; rest != 0; rest &= rest - 1) {
    unsigned day = lowest_of(rest);
    if (day <= month.length) found |= bit(nearest_workday(month, day));
  }
  if (fields.last_workday) found |= bit(last_workday(month));
  return found;
}

Bits days_of_week_field(const Fields& fields, const Month& month) {
  constexpr Bits kEverySeventh = bit(0) | bit(7) | bit(14) | bit(21) | bit(28);
  Bits found = 0;
  for (Bits rest = fields.weekdays; rest != 0; rest &= rest - 1) {
    found |= kEverySeventh << month.first_day_on(lowest_of(rest));
  }
  for (unsigned week = 0; week < fields.nth_weekdays.size(); ++week) {
    for (Bits rest = fields.nth_weekdays[week]; rest != 0; rest &= rest - 1) {
      found |= bit(month.first_day_on(lowest_of(rest)) + 7 * week);
    }
  }
  for (Bits rest = fields.last_weekdays; rest != 0; rest &= rest - 1) {
    unsigned first = month.first_day_on(lowest_of(rest));
    found |= bit(first + (month.length - first) / 7 * 7);
  }
  return found;
}

year_month month_of(local_days day) {
  year_month_day date(day);
  return date.year() / date.month();
}

unsigned day_of(local_days day) { return static_cast<unsigned>(year_month_day(day).day()); }

bool permits(const Fields& fields, year_month month) {
  return has(fields.months, static_cast<unsigned>(month.month()));
}

// Returns the matching days of a month; none if the month does not match.
Bits days_in(const Fields& fields, year_month month) {
  return permits(fields, month) ? matching_days(fields, month) : 0;
}

local_days day_in(year_month month, unsigned day) {
  return local_days(month / static_cast<int>(day));
}

// Returns the first matching day at or after `from`.
std::optional<local_days> next_day(const Fields& fields, local_days from) {
  year_month month = month_of(from);
  unsigned day = day_of(from);
  for (int searched = 0; searched <= kCalendarMonths; ++searched) {
    if (auto found = at_least(days_in(fields, month), day)) return day_in(month, *found);
    month += months(1);
    day = 1;
  }
  return std::nullopt;
}

std::optional<local_days> previous_day(const Fields& fields, local_days until) {
  year_month month = month_of(until);
  unsigned day = day_of(until);
  for (int searched = 0; searched <= kCalendarMonths; ++searched) {
    if (auto found = at_most(days_in(fields, month), day)) return day_in(month, *found);
    month -= months(1);
    day = 31;
  }
  return std::nullopt;
}

// Returns the number of matching days from `from` to before `end`.
std::int64_t count_days(const Fields& fields, local_days from, local_days end) {
  std::int64_t count = 0;
  year_month month = month_of(from);
  const year_month last = month_of(end);
  Bits counted = ~Bits{0} << day_of(from);
  for (; month < last; month += months(1)) {
    count += count_of(days_in(fields, month) & counted);
    counted = ~Bits{0};
  }
  return count + count_of(days_in(fields, last) & counted & (bit(day_of(end)) - 1));
}

bool is_matching_day(const Fields& fields, local_days day) {
  return has(days_in(fields, month_of(day)), day_of(day));
}

}  // namespace

Bits matching_days(const Fields& fields, year_month year_month) {
  Month month(year_month);
  Bits existing = bits_from(1, month.length);
  if (fields.any_day && fields.any_weekday) return existing;
  if (fields.any_weekday) return existing & days_of_month_field(fields, month);
  if (fields.any_day) return existing & days_of_week_field(fields, month);
  Bits by_day = days_of_month_field(fields, month);
  Bits by_weekday = days_of_week_field(fields, month);
  return existing & (fields.both_days ? by_day & by_weekday : by_day | by_weekday);
}

bool matches(const Fields& fields, LocalTime time) {
  auto day = std::chrono::floor<days>(time);
  TimeOfDay at = split(time - day);
  return has(fields.seconds, at.second) && has(fields.minutes, at.minute) &&
         has(fields.hours, at.hour) && is_matching_day(fields, day);
}

std::optional<LocalTime> next_match(const Fields& fields, LocalTime from) {
  from = std::max(from, first_local_time);
  if (from > last_local_time) return std::nullopt;
  auto day = std::chrono::floor<days>(from);
  if (auto time = next_time(fields, split(from - day)); time && is_matching_day(fields, day)) {
    return day + *time;
  }
  auto next = next_day(fields, day + days(1));
  if (!next || *next > last_local_time) return std::nullopt;
  return *next + first_time(fields);
}

std::optional<LocalTime> previous_match(const Fields& fields, LocalTime until) {
  until = std::min(until, last_local_time);
  if (until < first_local_time) return std::nullopt;
  auto day = std::chrono::floor<days>(until);
  if (auto time = previous_time(fields, split(until - day)); time && is_matching_day(fields, day)) {
    return day + *time;
  }
  auto previous = previous_day(fields, day - days(1));
  if (!previous || *previous < first_local_time) return std::nullopt;
  return *previous + last_time(fields);
}

std::int64_t count_matches(const Fields& fields, LocalTime from, LocalTime end) {
  from = std::max(from, first_local_time);
  end = std::min(end, last_local_time + seconds(1));
  if (end <= from) return 0;
  auto first_day = std::chrono::floor<days>(from);
  auto last_day = std::chrono::floor<days>(end);
  std::int64_t count = times_per_day(fields) * count_days(fields, first_day, last_day);
  if (is_matching_day(fields, last_day)) count += times_before(fields, split(end - last_day));
  if (is_matching_day(fields, first_day)) count -= times_before(fields, split(from - first_day));
  return count;
}

}  // namespace belay::cron
