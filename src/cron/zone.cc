#include "cron/zone.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::seconds;
using std::chrono::year;

// The bounds of the first and the last period: some months wider than the supported instants, so
// that no local time that is needed for one of them is outside.
constexpr sys_seconds kBegin{std::chrono::sys_days(year(0) / 3 / 1)};
constexpr sys_seconds kEnd{std::chrono::sys_days(year(10'000) / 10 / 1)};

// Returns the period of the rule that contains `at`, which is not before `rule_begin`. The rule's
// changes count from then on; before the first of them, `offset` applies.
Period rule_period(const ZoneRule& rule, sys_seconds rule_begin, seconds offset, sys_seconds at) {
  Period period{rule_begin, kEnd, offset};
  if (!rule.has_daylight_time()) return period;
  year middle = std::chrono::year_month_day(std::chrono::floor<days>(at)).year();
  // A change can be some days outside of its year: -167 to 167 hours, and the offset.
  std::array<ZoneRule::Change, 6> changes;
  for (int near = 0; near < 3; ++near) {
    auto pair = rule.changes_in(middle + std::chrono::years(near - 1));
    std::copy(pair.begin(), pair.end(), changes.begin() + 2 * near);
  }
  // An insertion sort is stable: the two changes of a zone without standard time are at the same
  // instant. (clang rejects std::stable_sort of GCC 12's library, which is deprecated inside.)
  for (auto each = changes.begin(); each != changes.end(); ++each) {
    auto is_before = [](const auto& one, const auto& other) { return one.at < other.at; };
    auto place = std::upper_bound(changes.begin(), each, *each, is_before);
    std::rotate(place, each, each + 1);
  }
  for (const ZoneRule::Change& change : changes) {
    if (change.at <= rule_begin) continue;
    if (change.at > at) {
      period.end = std::min(kEnd, change.at);
      break;
    }
    period.begin = change.at;
    period.offset = change.offset;
  }
  return period;
}

}  // namespace

Zone::Zone() : name_("UTC") {}
Zone::Zone(std::string name, Periods periods)
    : name_(std::move(name)), periods_(std::make_shared<const Periods>(std::move(periods))) {}

Period Zone::period_at(sys_seconds at) const {
  if (!periods_) return {kBegin, kEnd, seconds(0)};
  at = std::clamp(at, kBegin, kEnd - seconds(1));
  const std::vector<Transition>& transitions = periods_->transitions;
  auto next =
      std::upper_bound(transitions.begin(), transitions.end(), at,
                       [](sys_seconds instant, const Transition& one) { return instant < one.at; });
  Period period{kBegin, kEnd, periods_->first_offset};
  if (next != transitions.begin()) {
    period.begin = std::max(kBegin, std::prev(next)->at);
    period.offset = std::prev(next)->offset;
  }
  if (next != transitions.end()) {
    period.end = std::min(kEnd, next->at);
    return period;
  }
  return periods_->rule ? rule_period(*periods_->rule, period.begin, period.offset, at) : period;
}

LocalTime Zone::latest_local(sys_seconds at) const {
  Period period = period_at(at);
  LocalTime latest = period.local(at);
  while (period.begin > kBegin && period.begin > at - zone_offsets_apart) {
    sys_seconds before = period.begin - seconds(1);
    period = period_at(before);
    latest = std::max(latest, period.local(before));
  }
  return latest;
}

sys_seconds Zone::first_instant_of(LocalTime local) const {
  Period period = period_at(sys_seconds(local.time_since_epoch()) - zone_offset_max);
  while (period.local_end() <= local && period.end < kEnd) period = period_at(period.end);
  return std::max(period.begin, period.instant(local));
}

}  // namespace belay::cron
