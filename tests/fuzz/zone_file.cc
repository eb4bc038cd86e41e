// Files of time zones: a decoded one has one offset at each instant, and its local times have a
// first instant.

#include "cron/zone_file.h"

#include "cron/zone.h"
#include "tests/fuzz/target.h"

BELAY_FUZZ_TARGET(ZoneFile, "zone_file") {
  using namespace belay;
  auto periods = cron::decode_zone_file(input);
  if (!periods.ok()) {
    fuzz::require_sound(periods.error());
    return;
  }
  cron::Zone zone("Test/Zone", *std::move(periods));
  for (int year : {1, 1900, 1969, 2026, 2037, 2038, 9999}) {
    cron::sys_seconds at{std::chrono::sys_days(std::chrono::year(year) / 7 / 1)};
    cron::Period period = zone.period_at(at);
    fuzz::require(period.begin <= at && at < period.end, "a period contains its instant");
    fuzz::require(std::chrono::abs(period.offset) <= cron::zone_offset_max, "an offset is bounded");
    cron::Period last = zone.period_at(period.end - std::chrono::seconds(1));
    fuzz::require(last.offset == period.offset, "a period has one offset");
    cron::LocalTime latest = zone.latest_local(at);
    fuzz::require(latest >= period.local(at), "the latest time is not before the shown one");
    cron::sys_seconds first = zone.first_instant_of(latest);
    fuzz::require(first <= at, "a time that was shown has an earlier instant");
    fuzz::require(zone.local(first) >= latest, "its clock shows the time, or a later one");
  }
}
