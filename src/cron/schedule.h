#pragma once
// cron/schedule.h - a cron expression in a time zone, and its ticks: the instants at which it
// fires.
//
//   Schedule schedule{expression, madrid};
//   std::optional<Instant> first = schedule.next(clock.now());
//
// Ticks are whole seconds of UTC, in strictly ascending order; each of them is a tick once. If the
// zone's clock is set forward or back, the kind of the expression decides:
//
//   fixed times: neither a wildcard nor a step in the second, the minute and the hour. A time that
//     is skipped fires at the first instant after the gap; several of them fire there once. A time
//     that is repeated fires the first time. A day that the zone skips completely has no tick.
//   repeating: the others, such as */15 or 0 * * * *, and @every. They fire whenever the zone's
//     clock shows a matching time: not for skipped times, and both times for repeated ones, so that
//     elapsed time between ticks remains the same.
//
// The supported instants are those of the years 1 to 9999 (UTC). Every function takes bounded time:
// next() and previous() some microseconds at most, count() some milliseconds for all of these
// years.
//
// Threading: immutable, and therefore usable from any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "belay/clock.h"
#include "cron/expression.h"
#include "cron/zone.h"

namespace belay::cron {

class Schedule {
 public:
  // Without ticks after `end`.
  Schedule(CronExpression expression, Zone zone, std::optional<Instant> end = std::nullopt);

  const CronExpression& expression() const { return expression_; }
  const Zone& zone() const { return zone_; }

  // Returns the first tick after `after`; nothing if the years before 10000 have no such tick.
  std::optional<Instant> next(Instant after) const;
  // Returns the last tick before `before`; nothing if the years from 1 on have no such tick.
  std::optional<Instant> previous(Instant before) const;

  // Returns the first ticks after `after` up to and including `until`, at most `max` of them.
  std::vector<Instant> ticks(Instant after, Instant until, std::size_t max) const;
  // Returns the number of ticks after `after` up to and including `until`, without computing each.
  std::int64_t count(Instant after, Instant until) const;

  bool is_tick(Instant instant) const;
  // True for a tick that fires at the end of a gap, because the zone's clock skips its time.
  bool is_moved(Instant tick) const;
  // Returns the time that the zone's clock shows: "2026-11-23 09:00:00 +01:00".
  std::string local_text(Instant instant) const;

  // "At 09:00 on Monday to Friday (Europe/Madrid)"; without the zone for an interval.
  std::string describe() const;

  friend bool operator==(const Schedule&, const Schedule&) = default;

 private:
  CronExpression expression_;
  Zone zone_;
  std::optional<Instant> end_;
};

}  // namespace belay::cron
