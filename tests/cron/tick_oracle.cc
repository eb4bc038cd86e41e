#include "tests/cron/tick_oracle.h"

#include <algorithm>

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

CivilTime civil(LocalTime local) {
  auto day = std::chrono::floor<days>(local);
  std::chrono::year_month_day date(day);
  auto second = static_cast<int>((local - day).count());
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          second / 3'600,
          second / 60 % 60,
          second % 60};
}

}  // namespace

std::vector<sys_seconds> watched_ticks(const RandomExpression& expression, const Zone& zone,
                                       sys_seconds from, sys_seconds until) {
  const seconds step = expression.has_seconds ? seconds(1) : seconds(60);
  std::vector<sys_seconds> ticks;
  // The latest time that the clock has shown. No clock was ever set back by more than a day.
  LocalTime latest = zone.local(from - hours(25));
  for (sys_seconds at = from - hours(25); at < from; at += step) {
    latest = std::max(latest, zone.local(at));
  }
  for (sys_seconds at = from; at <= until; at += step) {
    LocalTime shown = zone.local(at);
    bool fires = expression.repeats && expression.matches(civil(shown));
    // The times that the clock shows or skips now, for the first time.
    for (LocalTime time = latest + step; !expression.repeats && time <= shown; time += step) {
      auto day = std::chrono::floor<days>(time);
      bool is_of_skipped_day =
          day > std::chrono::floor<days>(latest) && day < std::chrono::floor<days>(shown);
      if (!is_of_skipped_day && expression.matches(civil(time))) fires = true;
    }
    latest = std::max(latest, shown);
    if (fires) ticks.push_back(at);
  }
  return ticks;
}

}  // namespace belay::cron
