#pragma once
// cron/expression.h - a cron expression: the wall-clock times, or the interval, of a schedule.
//
//   BELAY_TRY(CronExpression weekdays, CronExpression::parse("0 9 * * MON-FRI"));
//   weekdays.describe();  // "At 09:00 on Monday to Friday"
//
// Five fields: minute, hour, day of month, month, day of week; or six, with the second first. A
// field is a list of values, ranges and steps:
//
//   *  ?           every value; ? only as a complete field of days
//   5  MON  jan    a value; in the day of week, 0 and 7 are Sunday
//   9-17           a range; 22-2 and FRI-MON continue at the beginning
//   */15  9-17/2   every 15th value; 5/10 begins at 5
//   L  L-3  LW     day of month: the last day, the third day before it, the last day from Monday to
//                  Friday
//   15W            day of month: the day from Monday to Friday that is nearest to day 15, in the
//                  same month
//   FRI#2  FRI#L   day of week: the second, or the last, Friday of a month (FRIL is the same)
//   +FRI           day of week: must match in addition to the day of month. Without the plus, if
//                  both fields restrict the days, a day matches if one of them does.
//
// Or a name: @yearly (@annually), @monthly, @weekly, @daily (@midnight), @hourly; or an interval
// such as @every 90s or @every 1h30m, whose ticks are the multiples of the interval since
// 1970-01-01T00:00:00Z, in every zone. docs/schedules.md states the decisions.
//
// Threading: immutable, and therefore usable from any thread.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "belay/result.h"
#include "cron/fields.h"

namespace belay::cron {

inline constexpr std::size_t expression_bytes_max = 512;
inline constexpr std::chrono::seconds interval_max = std::chrono::days(366);

class CronExpression {
 public:
  // Fails with `invalid` and a message that names the field, its text and the permitted values;
  // also for an expression that no date matches.
  static Result<CronExpression> parse(std::string_view text);

  // The interval of `@every`; unset for an expression with fields.
  std::optional<std::chrono::seconds> interval() const { return interval_; }
  // REQUIRES: no interval.
  const Fields& fields() const { return fields_; }

  // Returns the canonical text, which parse() reads as an equal expression. Equal expressions have
  // equal texts: names of months are numbers, those of weekdays are in capitals, @daily is
  // "0 0 * * *", and the field for seconds is omitted if it is 0.
  std::string to_string() const;

  // Returns the expression in English: "Every 15 minutes", "At 09:00 on Monday to Friday".
  std::string describe() const;

  // Equal expressions have equal ticks in every zone.
  friend bool operator==(const CronExpression&, const CronExpression&) = default;

 private:
  explicit CronExpression(const Fields& fields) : fields_(fields) {}
  explicit CronExpression(std::chrono::seconds interval) : interval_(interval) {}

  Fields fields_;
  std::optional<std::chrono::seconds> interval_;
};

}  // namespace belay::cron
