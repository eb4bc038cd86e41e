#pragma once
// tests/cron/random_expression.h - random cron expressions, each with a model of its days and times
// that shares no code with src/cron.

#include <array>
#include <random>
#include <string>
#include <vector>

namespace belay::cron {

struct CivilTime {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// One item of the field "day of month" or "day of week".
struct DayItem {
  enum class Kind { day, before_last, last_workday, near_day, weekday, nth_weekday, last_weekday };
  Kind kind;
  int number = 0;  // the day, or the distance from the last one; Sunday is 0
  int which = 0;   // of nth_weekday
};

struct RandomExpression {
  std::string text;
  std::array<bool, 60> seconds{};
  std::array<bool, 60> minutes{};
  std::array<bool, 24> hours{};
  std::array<bool, 13> months{};
  std::vector<DayItem> days;      // empty: every day
  std::vector<DayItem> weekdays;  // likewise
  bool requires_both = false;
  bool has_seconds = false;
  bool repeats = false;

  bool matches_day(int year, int month, int day) const;
  bool matches(const CivilTime& time) const;
};

enum class Syntax {
  full,
  portable,  // the part that the npm package croner has, too
};

// Some of the expressions match no date.
RandomExpression random_expression(std::mt19937_64& random, Syntax syntax);

int days_in_month(int year, int month);
int weekday_of(int year, int month, int day);  // Sunday is 0

}  // namespace belay::cron
