#include "cron/schedule.h"

#include <algorithm>
#include <utility>

#include "cron/two_digits.h"
#include "cron/zoned_ticks.h"

namespace belay::cron {
namespace {

using std::chrono::ceil;
using std::chrono::floor;
using std::chrono::seconds;

// Returns the first whole second after `instant`, within the supported ones and the second after
// the last of them.
sys_seconds after(Instant instant) {
  if (instant < Instant(first_instant)) return first_instant;
  return std::min(floor<seconds>(instant), last_instant) + seconds(1);
}

// Returns the last whole second at or before `instant`, within the supported ones and the second
// before the first of them.
sys_seconds until(Instant instant) {
  if (instant > Instant(last_instant)) return last_instant;
  return floor<seconds>(std::max(instant, Instant(first_instant) - seconds(1)));
}

std::optional<Instant> supported(std::optional<sys_seconds> tick) {
  if (!tick || *tick < first_instant || *tick > last_instant) return std::nullopt;
  return Instant(*tick);
}

// The ticks of @every: the multiples of the interval since 1970.
class IntervalTicks {
 public:
  explicit IntervalTicks(seconds interval) : interval_(interval) {}

  std::optional<sys_seconds> first(sys_seconds from) const {
    return sys_seconds((multiples(from - seconds(1)) + 1) * interval_);
  }
  std::optional<sys_seconds> last(sys_seconds until) const {
    return sys_seconds(multiples(until) * interval_);
  }
  std::int64_t count(sys_seconds from, sys_seconds until) const {
    return std::max<std::int64_t>(0, multiples(until) - multiples(from - seconds(1)));
  }

 private:
  // Returns the number of the last tick at or before `at`.
  std::int64_t multiples(sys_seconds at) const {
    std::int64_t since = at.time_since_epoch().count();
    std::int64_t rounded = since / interval_.count();
    return since % interval_.count() < 0 ? rounded - 1 : rounded;
  }
  const seconds interval_;
};

// Calls `use` with the ticks of the schedule's kind.
template <typename Use>
auto with_ticks(const Schedule& schedule, Use use) {
  const CronExpression& expression = schedule.expression();
  if (expression.interval()) return use(IntervalTicks(*expression.interval()));
  const Fields& fields = expression.fields();
  if (fields.is_repeating()) return use(RepeatingTicks(fields, schedule.zone()));
  return use(FixedTicks(fields, schedule.zone()));
}

}  // namespace

Schedule::Schedule(CronExpression expression, Zone zone, std::optional<Instant> end)
    : expression_(std::move(expression)), zone_(std::move(zone)), end_(end) {}

std::optional<Instant> Schedule::next(Instant instant) const {
  sys_seconds from = after(instant);
  auto tick = with_ticks(*this, [&](const auto& ticks) { return supported(ticks.first(from)); });
  if (tick && end_ && *tick > *end_) tick.reset();
  return tick;
}

std::optional<Instant> Schedule::previous(Instant before) const {
  if (end_) before = std::min(before, *end_ + Instant::duration(1));
  if (before <= Instant(first_instant)) return std::nullopt;
  sys_seconds last = until(before - Instant::duration(1));
  return with_ticks(*this, [&](const auto& ticks) { return supported(ticks.last(last)); });
}

std::vector<Instant> Schedule::ticks(Instant after, Instant until, std::size_t max) const {
  std::vector<Instant> found;
  while (found.size() < max) {
    auto tick = next(after);
    if (!tick || *tick > until) break;
    found.push_back(*tick);
    after = *tick;
  }
  return found;
}

std::int64_t Schedule::count(Instant instant, Instant last) const {
  if (end_) last = std::min(last, *end_);
  if (last <= instant) return 0;
  sys_seconds from = after(instant);
  sys_seconds to = until(last);
  return with_ticks(*this, [&](const auto& ticks) { return ticks.count(from, to); });
}

bool Schedule::is_tick(Instant instant) const {
  if (instant < Instant(first_instant)) return false;
  return next(instant - Instant::duration(1)) == instant;
}

bool Schedule::is_moved(Instant tick) const {
  if (expression_.interval() || !is_tick(tick)) return false;
  return !matches(expression_.fields(), zone_.local(floor<seconds>(tick)));
}

std::string Schedule::local_text(Instant instant) const {
  sys_seconds at = std::clamp(floor<seconds>(instant), first_instant, last_instant);
  std::int64_t offset = zone_.period_at(at).offset.count();
  // 2026-11-23T09:00:00.000000Z
  std::string text = to_text(Instant(std::min(at + seconds(offset), last_instant)));
  text.resize(19);
  text[10] = ' ';
  const auto distance = static_cast<unsigned>(offset < 0 ? -offset : offset);
  text += std::string(offset < 0 ? " -" : " +") + two_digits(distance / 3'600) + ":" +
          two_digits(distance / 60 % 60);
  // Offsets of the nineteenth century have seconds.
  return distance % 60 == 0 ? text : text + ":" + two_digits(distance % 60);
}

std::string Schedule::describe() const {
  std::string text = expression_.describe();
  return expression_.interval() ? text : text + " (" + zone_.name() + ")";
}

}  // namespace belay::cron
