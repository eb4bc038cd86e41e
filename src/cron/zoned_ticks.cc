#include "cron/zoned_ticks.h"

#include <algorithm>

#include "cron/local_times.h"

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::seconds;

sys_seconds as_if_utc(LocalTime local) { return sys_seconds(local.time_since_epoch()); }

// The gap that ends at an instant: the local times that the zone's clock skips.
struct Gap {
  LocalTime last_before;  // the latest time that was shown before
  LocalTime first_after;  // the time that is shown at the end of the gap

  Gap(const Zone& zone, sys_seconds end)
      : last_before(zone.latest_local(end - seconds(1))), first_after(zone.local(end)) {}

  // The days of which no time is shown: those from the first one that begins in the gap to before
  // the one on which the gap ends.
  local_days first_skipped_day() const { return std::chrono::ceil<days>(last_before + seconds(1)); }
  local_days end_of_skipped_days() const { return std::chrono::floor<days>(first_after); }
  bool skips_day_of(LocalTime time) const {
    auto day = std::chrono::floor<days>(time);
    return day >= first_skipped_day() && day < end_of_skipped_days();
  }
};

}  // namespace

std::optional<sys_seconds> FixedTicks::first(sys_seconds from) const {
  auto time = next_match(fields_, zone_.latest_local(from - seconds(1)) + seconds(1));
  while (time) {
    sys_seconds tick = zone_.first_instant_of(*time);
    if (zone_.local(tick) == *time) return tick;
    Gap gap(zone_, tick);
    if (!gap.skips_day_of(*time)) return tick;
    time = next_match(fields_, gap.end_of_skipped_days());
  }
  return std::nullopt;
}

std::optional<sys_seconds> FixedTicks::last(sys_seconds until) const {
  auto time = previous_match(fields_, zone_.latest_local(until));
  while (time) {
    sys_seconds tick = zone_.first_instant_of(*time);
    if (zone_.local(tick) == *time) return tick;
    Gap gap(zone_, tick);
    if (!gap.skips_day_of(*time)) return tick;
    time = previous_match(fields_, gap.first_skipped_day() - seconds(1));
  }
  return std::nullopt;
}

std::int64_t FixedTicks::count(sys_seconds from, sys_seconds until) const {
  if (until < from) return 0;
  std::int64_t count = count_matches(fields_, zone_.latest_local(from - seconds(1)) + seconds(1),
                                     zone_.latest_local(until) + seconds(1));
  for (Period period = zone_.period_at(from - seconds(1)); period.end <= until;
       period = zone_.period_at(period.end)) {
    count -= surplus_at(period.end);
  }
  return count;
}

// Returns how many more local times than ticks there are at a change of the offset.
std::int64_t FixedTicks::surplus_at(sys_seconds change) const {
  Gap gap(zone_, change);
  if (gap.first_after <= gap.last_before + seconds(1)) return 0;
  std::int64_t all =
      count_matches(fields_, gap.last_before + seconds(1), gap.first_after + seconds(1));
  std::int64_t of_skipped_days =
      count_matches(fields_, gap.first_skipped_day(), gap.end_of_skipped_days());
  bool fires = all > of_skipped_days;
  return all - (fires ? 1 : 0);
}

std::optional<sys_seconds> RepeatingTicks::first(sys_seconds from) const {
  sys_seconds searched = from;
  while (searched <= last_instant) {
    Period period = zone_.period_at(searched);
    auto time = next_match(fields_, period.local(searched));
    if (!time) return std::nullopt;
    sys_seconds tick = period.instant(*time);
    if (tick < period.end) return tick;
    searched = period.end;
    // A later period can show earlier local times again, but not this much later. Then the next
    // match is at or after `time` in each zone, and the periods until then need no search.
    if (searched > from + zone_offsets_apart) {
      searched = std::max(searched, as_if_utc(*time) - zone_offset_max);
    }
  }
  return std::nullopt;
}

std::optional<sys_seconds> RepeatingTicks::last(sys_seconds until) const {
  sys_seconds searched = until;
  while (searched >= first_instant) {
    Period period = zone_.period_at(searched);
    auto time = previous_match(fields_, period.local(searched));
    if (!time) return std::nullopt;
    sys_seconds tick = period.instant(*time);
    if (tick >= period.begin) return tick;
    searched = period.begin - seconds(1);
    if (searched < until - zone_offsets_apart) {
      searched = std::min(searched, as_if_utc(*time) + zone_offset_max);
    }
  }
  return std::nullopt;
}

std::int64_t RepeatingTicks::count(sys_seconds from, sys_seconds until) const {
  std::int64_t count = 0;
  while (from <= until) {
    Period period = zone_.period_at(from);
    sys_seconds end = std::min(period.end, until + seconds(1));
    count += count_matches(fields_, period.local(from), period.local(end));
    from = end;
  }
  return count;
}

}  // namespace belay::cron
