// Cron expressions: a valid one has an equal canonical text, a description, and ticks in order.

#include "cron/due_ticks.h"
#include "cron/schedule.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

using cron::CronExpression;
using cron::Schedule;
using cron::Zone;

// An hour is skipped and repeated each year; a change that is far in the future.
const Zone& changing_zone() {
  static const Zone zone("Test/Zone", [] {
    Zone::Periods periods;
    periods.rule = *cron::ZoneRule::parse("CET-1CEST,M3.5.0,M10.5.0/3");
    return periods;
  }());
  return zone;
}

void require_ticks(const Schedule& schedule, Instant instant) {
  auto next = schedule.next(instant);
  if (!next) return;
  require(*next > instant, "the next tick is later");
  require(schedule.is_tick(*next), "the next tick is a tick");
  require(schedule.count(instant, *next) == 1, "no tick is before the next one");
  auto previous = schedule.previous(*next);
  require(!previous || *previous <= instant, "no tick is after the previous one");
  auto due = cron::due_ticks(schedule, instant, *next);
  require(due.fire.size() == 1 && due.fire.front() == *next, "the next tick is due at its time");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(CronExpression, "cron_expression") {
  using namespace belay;
  auto parsed = cron::CronExpression::parse(input);
  if (!parsed.ok()) {
    fuzz::require_sound(parsed.error());
    fuzz::require(parsed.error().code == ErrorCode::invalid, "a wrong expression is invalid");
    return;
  }
  std::string text = parsed->to_string();
  auto again = cron::CronExpression::parse(text);
  fuzz::require(again.ok() && *again == *parsed, "the canonical text is equal");
  fuzz::require(again->to_string() == text, "the canonical text is stable");
  fuzz::require(!parsed->describe().empty(), "there is a description");
  cron::Schedule schedule(*parsed, fuzz::changing_zone());
  for (std::string_view instant :
       {"0001-01-01T00:00:00Z", "1999-12-31T23:59:59.999999Z", "2026-03-29T00:59:59Z",
        "2026-10-25T00:59:59Z", "2026-10-25T01:30:00Z", "9990-01-01T00:00:00Z"}) {
    fuzz::require_ticks(schedule, *instant_from(instant));
  }
}
