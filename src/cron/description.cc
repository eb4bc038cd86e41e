// The description of an expression in English.

#include <array>
#include <string>
#include <vector>

#include "cron/english_list.h"
#include "cron/expression.h"
#include "cron/two_digits.h"
#include "cron/value_runs.h"

namespace belay::cron {
namespace {

// Up to this many times of day are listed.
constexpr unsigned kListedTimesMax = 6;

std::string clock_time(unsigned hour, unsigned minute) {
  return two_digits(hour) + ":" + two_digits(minute);
}

std::string every(unsigned number, const std::string& unit) {
  return number == 1 ? "Every " + unit : "Every " + std::to_string(number) + " " + unit + "s";
}

// Returns n if the set is 0, n, 2n, ... to the end of its unit, which n divides; otherwise 0. Only
// then are the distances equal, also from one unit to the next.
unsigned regular_step(Bits set, Bits all) {
  Progression steps = longest_progression(set);
  const unsigned unit = highest_of(all) + 1;
  const bool is_regular = steps.values() == set && steps.first == 0 && steps.size() > 1 &&
                          unit % steps.step == 0 && steps.last + steps.step == unit;
  return is_regular ? steps.step : 0;
}

bool is_run(Bits set) { return runs_of(set).size() == 1; }

std::string listed_times(const Fields& fields) {
  std::vector<std::string> times;
  for (unsigned hour = 0; hour < 24; ++hour) {
    for (unsigned minute = 0; minute < 60; ++minute) {
      for (unsigned second = 0; second < 60; ++second) {
        if (!has(fields.hours, hour) || !has(fields.minutes, minute) ||
            !has(fields.seconds, second)) {
          continue;
        }
        std::string seconds = fields.seconds == bit(0) ? "" : ":" + two_digits(second);
        times.push_back(clock_time(hour, minute) + seconds);
      }
    }
  }
  return "At " + joined_words(times, "and");
}

// " from 09:00 to 17:45", the first and the last tick; nothing if the hours are all.
std::string hour_range(const Fields& fields) {
  if (fields.hours == all_hours) return "";
  bool has_seconds = fields.seconds != bit(0);
  auto text = [&](unsigned hour, unsigned minute, unsigned second) {
    return clock_time(hour, minute) + (has_seconds ? ":" + two_digits(second) : "");
  };
  return " from " +
         text(lowest_of(fields.hours), lowest_of(fields.minutes), lowest_of(fields.seconds)) +
         " to " +
         text(highest_of(fields.hours), highest_of(fields.minutes), highest_of(fields.seconds));
}

// "Every 15 minutes", with the range of the hours; nothing if the distances are not equal.
std::string regular_times(const Fields& fields) {
  if (!is_run(fields.hours)) {
    unsigned step = regular_step(fields.hours, all_hours);
    bool at_full_hours = fields.minutes == bit(0) && fields.seconds == bit(0);
    return step > 1 && at_full_hours ? every(step, "hour") : "";
  }
  if (fields.seconds == bit(0)) {
    if (unsigned step = regular_step(fields.minutes, all_minutes)) {
      return every(step, "minute") + hour_range(fields);
    }
    if (count_of(fields.minutes) > 1) return "";
    if (fields.hours != all_hours) return "Every hour" + hour_range(fields);
    return fields.minutes == bit(0)
               ? "Every hour"
               : "Every hour at minute " + std::to_string(lowest_of(fields.minutes));
  }
  unsigned step = regular_step(fields.seconds, all_seconds);
  if (step == 0 || fields.minutes != all_minutes) return "";
  return every(step, "second") + hour_range(fields);
}

// "At minutes 5 and 20 of hours 9 to 17"
std::string counted_times(const Fields& fields) {
  std::string text = "At ";
  if (fields.seconds != bit(0)) {
    text += counted_values("second", fields.seconds, all_seconds) + " of ";
  }
  text += counted_values("minute", fields.minutes, all_minutes);
  const bool is_implied = fields.minutes == all_minutes && fields.hours == all_hours;
  return is_implied ? text : text + " of " + counted_values("hour", fields.hours, all_hours);
}

bool is_short_list(const Fields& fields) {
  return count_of(fields.hours) * count_of(fields.minutes) * count_of(fields.seconds) <=
         kListedTimesMax;
}

std::string time_words(const Fields& fields) {
  if (is_short_list(fields)) return listed_times(fields);
  std::string regular = regular_times(fields);
  return regular.empty() ? counted_times(fields) : regular;
}

// The days of the field "day of month", without "of the month".
std::string days_of_month(const Fields& fields) {
  std::vector<std::string> words;
  if (fields.days != 0) words.push_back(counted_values("day", fields.days, all_days));
  for (unsigned before = 0; before <= 30; ++before) {
    if (!has(fields.days_before_last, before)) continue;
    std::string distance =
        before == 1 ? "the day before " : std::to_string(before) + " days before ";
    words.push_back((before == 0 ? "" : distance) + "the last day");
  }
  if (fields.last_workday) words.push_back("the last day from Monday to Friday");
  for (unsigned day = 1; day <= 31; ++day) {
    if (!has(fields.near_days, day)) continue;
    words.push_back("the day from Monday to Friday nearest to day " + std::to_string(day));
  }
  return joined_words(words, "and");
}

// The days of the field "day of week"; `month` is "the month" or the names of months.
std::string days_of_week(const Fields& fields, const std::string& month,
                         std::string_view conjunction) {
  constexpr std::array<std::string_view, 6> kWhich = {"first",  "second", "third",
                                                      "fourth", "fifth",  "last"};
  std::vector<std::string> words;
  if (fields.weekdays != 0) words.push_back(weekday_words(fields.weekdays, conjunction));
  std::vector<std::string> counted;
  for (std::size_t week = 0; week < kWhich.size(); ++week) {
    Bits which = week < 5 ? fields.nth_weekdays[week] : fields.last_weekdays;
    for (unsigned weekday = 1; weekday <= 7; ++weekday) {
      if (!has(from_monday(which), weekday)) continue;
      counted.push_back("the " + std::string(kWhich[week]) + " " + weekday_word(weekday));
    }
  }
  if (!counted.empty()) words.push_back(joined_words(counted, conjunction) + " of " + month);
  return joined_words(words, conjunction);
}

std::string day_words(const Fields& fields) {
  const bool every_month = fields.months == all_months;
  const std::string months = every_month ? "the month" : month_words(fields.months);
  const std::string in_months = every_month ? "" : " in " + months;
  if (fields.any_day && fields.any_weekday) {
    if (every_month) return is_short_list(fields) ? " every day" : "";
    return (is_short_list(fields) ? " every day" : "") + in_months;
  }
  if (fields.any_day) {
    const bool names_month = fields.weekdays == 0;  // "the last Friday of June"
    return " on " + days_of_week(fields, names_month ? months : "the month", "and") +
           (names_month ? "" : in_months);
  }
  if (fields.any_weekday) {
    const bool is_date = count_of(fields.days) == 1 && count_of(fields.months) == 1 &&
                         fields.days_before_last == 0 && fields.near_days == 0 &&
                         !fields.last_workday;
    if (is_date) return " on " + std::to_string(lowest_of(fields.days)) + " " + months;
    return " on " + days_of_month(fields) + " of " + months;
  }
  if (fields.both_days) {
    return " on " + days_of_month(fields) + " of " + months + " if that is also " +
           days_of_week(fields, "the month", "or");
  }
  return " on " + days_of_month(fields) + " of the month or on " +
         days_of_week(fields, "the month", "and") + (every_month ? "" : "," + in_months);
}

std::string interval_words(std::chrono::seconds interval) {
  auto number = static_cast<unsigned>(interval.count());
  if (number % 3'600 == 0) return every(number / 3'600, "hour");
  if (number % 60 == 0) return every(number / 60, "minute");
  return every(number, "second");
}

}  // namespace

std::string CronExpression::describe() const {
  return interval_ ? interval_words(*interval_) : time_words(fields_) + day_words(fields_);
}

}  // namespace belay::cron
