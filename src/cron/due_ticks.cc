#include "cron/due_ticks.h"

#include <algorithm>

namespace belay::cron {
namespace {

// Returns the instant before the first one within the window, which includes `now - catch_up`.
Instant before_window(Instant now, std::chrono::microseconds catch_up) {
  // The difference cannot overflow; `now - catch_up` could.
  const auto since_first = std::max(now, Instant(first_instant)) - Instant(first_instant);
  const std::chrono::microseconds window =
      std::max<std::chrono::microseconds>(catch_up, catch_up_min);
  if (window >= since_first) return Instant(first_instant) - Instant::duration(1);
  return now - window - Instant::duration(1);
}

}  // namespace

DueTicks due_ticks(const Schedule& schedule, Instant decided, Instant now,
                   const DueOptions& options) {
  DueTicks due;
  due.decided = decided;
  now = std::min(now, Instant(last_instant));
  if (now > decided) {
    const Instant missed_until = before_window(now, options.catch_up);
    if (std::int64_t count = schedule.count(decided, missed_until); count > 0) {
      due.missed = MissedTicks{count, *schedule.next(decided),
                               *schedule.previous(missed_until + Instant::duration(1))};
      due.decided = due.missed->last;
    }
    const std::size_t limit = std::clamp<std::size_t>(options.limit, 1, due_ticks_max);
    due.fire = schedule.ticks(std::max(due.decided, missed_until), now, limit);
    if (!due.fire.empty()) due.decided = due.fire.back();
  }
  due.next = schedule.next(due.decided);
  return due;
}

}  // namespace belay::cron
