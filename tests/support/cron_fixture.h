#pragma once
// tests/support/cron_fixture.h - expressions, zones and instants for the tests of src/cron.

#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "cron/expression.h"
#include "cron/schedule.h"
#include "cron/zone_database.h"

namespace belay::cron {

inline CronExpression expression(std::string_view text) {
  return CronExpression::parse(text).value();
}

// Returns a zone of the system's database.
inline Zone zone(std::string_view name) {
  static const ZoneDatabase zones;
  return zones.find(name).value();
}

inline Schedule schedule(std::string_view text, std::string_view zone_name) {
  return Schedule(expression(text), zone(zone_name));
}

// "2026-03-29T01:00:00Z"
inline Instant at(std::string_view text) { return instant_from(text).value(); }

// Returns the instant as "2026-03-29T01:00:00Z".
inline std::string text_of(Instant instant) { return to_text(instant).substr(0, 19) + "Z"; }

// Returns the first ticks after an instant.
inline std::vector<std::string> ticks(const Schedule& schedule, std::string_view after,
                                      std::size_t count) {
  std::vector<std::string> texts;
  for (Instant tick : schedule.ticks(at(after), Instant::max(), count)) {
    texts.push_back(text_of(tick));
  }
  return texts;
}

}  // namespace belay::cron
