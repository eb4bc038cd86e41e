#pragma once
// cron/zone_rule.h - the rule of a time zone for the future: an offset, or two that alternate each
// year, such as "CET-1CEST,M3.5.0,M10.5.0/3".
//
// The format is that of POSIX's variable TZ, with the extension that a time of day is -167 to 167
// hours (RFC 9636, section 3.3.1).

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include "belay/result.h"

namespace belay::cron {

class ZoneRule {
 public:
  // A day of each year, and a time relative to its midnight.
  struct YearDay {
    enum class Kind {
      month_week,    // M3.5.0: a weekday of a month, counted from 1; 5 is the last one
      without_leap,  // J60: the day 1 to 365 of a year without 29 February
      with_leap,     // 59: the day 0 to 365
    };
    Kind kind = Kind::month_week;
    unsigned month = 1;
    unsigned week = 1;
    unsigned weekday = 0;
    unsigned day = 0;
    std::chrono::seconds time{0};

    // Returns the local time in that year.
    std::chrono::local_seconds in(std::chrono::year year) const;
  };
  struct Change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;  // from then on
  };

  static Result<ZoneRule> parse(std::string_view text);

  std::chrono::seconds standard_offset() const { return standard_; }
  bool has_daylight_time() const { return daylight_.has_value(); }
  // Returns the two changes of a year, in their order. REQUIRES: has_daylight_time().
  std::array<Change, 2> changes_in(std::chrono::year year) const;

 private:
  std::chrono::seconds standard_{0};
  std::optional<std::chrono::seconds> daylight_;
  YearDay daylight_begin_;
  YearDay daylight_end_;
};

}  // namespace belay::cron
