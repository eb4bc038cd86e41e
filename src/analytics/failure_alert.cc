#include "analytics/failure_alert.h"

#include <algorithm>
#include <string>
#include <utility>

namespace belay::analytics {
namespace {

using std::chrono::microseconds;

// Of one slice: the product of a sum of slices and 1,000 must be representable.
constexpr std::int64_t kOutcomesMax = 1'000'000'000'000;

std::int64_t counted(std::int64_t one, std::int64_t other) {
  return std::min(std::clamp<std::int64_t>(one, 0, kOutcomesMax) +
                      std::clamp<std::int64_t>(other, 0, kOutcomesMax),
                  kOutcomesMax);
}

// Removes the slices that are not in the window that ends with the slice `last`.
void keep_window(std::vector<AlertSlice>& slices, std::int64_t last) {
  std::erase_if(slices, [last](const AlertSlice& each) {
    return each.number > last || each.number < last - slices_max;
  });
  // No call of next_alert() returns so many: the state was read from damaged bytes.
  if (slices.size() > static_cast<std::size_t>(slices_max) + 1) slices.clear();
}

void add_outcomes(std::vector<AlertSlice>& slices, std::int64_t number, Outcomes since) {
  if (since.success <= 0 && since.failed <= 0) return;
  if (slices.empty() || slices.back().number != number) slices.push_back({number});
  Outcomes& sum = slices.back().outcomes;
  sum.success = counted(sum.success, since.success);
  sum.failed = counted(sum.failed, since.failed);
}

bool is_above(const Outcomes& sum, std::int64_t of_thousand) {
  return sum.failed * 1'000 > (sum.success + sum.failed) * of_thousand;
}

bool is_below(const Outcomes& sum, std::int64_t of_thousand) {
  return sum.failed == 0 || sum.failed * 1'000 < (sum.success + sum.failed) * of_thousand;
}

// REQUIRES: from <= to. The difference of any two instants is representable without a sign.
bool has_passed(std::chrono::milliseconds time, Instant from, Instant to) {
  auto passed = static_cast<std::uint64_t>(to.time_since_epoch().count()) -
                static_cast<std::uint64_t>(from.time_since_epoch().count());
  return passed >= static_cast<std::uint64_t>(microseconds(time).count());
}

Error out_of_range(const char* member, const char* range) {
  return error(ErrorCode::invalid,
               std::string("The alert's `") + member + "` must be " + range + ".");
}

}  // namespace

Result<Done> check_rule(const FailureRule& rule) {
  if (rule.window < alert_window_min || rule.window > alert_window_max) {
    return out_of_range("window", "1 minute to 7 days");
  }
  if (rule.fire_above < 0 || rule.fire_above > 1'000) {
    return out_of_range("fire_above", "0 to 1000 thousandths");
  }
  if (rule.clear_below < 0 || rule.clear_below > rule.fire_above) {
    return out_of_range("clear_below", "0 to `fire_above`");
  }
  if (rule.invocations_min < 1) return out_of_range("invocations_min", "at least 1");
  return Done{};
}

AlertStep next_alert(const FailureRule& rule, AlertState state, Instant now, Outcomes since) {
  BELAY_ASSERT(check_rule(rule).ok());
  microseconds slice = microseconds(rule.window) / slices_max;
  if (state.slice != slice) state.slices.clear();
  state.slice = slice;
  now = std::max({now, state.seen_at, Instant{}});
  state.seen_at = now;
  std::int64_t number = now.time_since_epoch() / slice;
  keep_window(state.slices, number);
  add_outcomes(state.slices, number, since);
  Outcomes sum = outcomes_of(state);
  AlertStep step;
  if (!state.is_firing) {
    if (sum.success + sum.failed >= rule.invocations_min && is_above(sum, rule.fire_above)) {
      state.is_firing = true;
      state.fired_at = now;
      step.event = AlertEvent{AlertChange::fired, now, sum};
    }
  } else if (has_passed(rule.window, std::min(state.fired_at, now), now) &&
             is_below(sum, rule.clear_below)) {
    state.is_firing = false;
    state.fired_at = Instant{};
    step.event = AlertEvent{AlertChange::cleared, now, sum};
  }
  step.state = std::move(state);
  return step;
}

Outcomes outcomes_of(const AlertState& state) {
  Outcomes sum;
  for (const AlertSlice& slice : state.slices) {
    sum.success += std::clamp<std::int64_t>(slice.outcomes.success, 0, kOutcomesMax);
    sum.failed += std::clamp<std::int64_t>(slice.outcomes.failed, 0, kOutcomesMax);
  }
  return sum;
}

}  // namespace belay::analytics
