// next_alert(): when an alert fires and clears.

#include "analytics/failure_alert.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <optional>
#include <vector>

#include "belay/value.h"

namespace belay::analytics {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

FailureRule rule_of_ten_minutes() {
  FailureRule rule;
  rule.window = minutes(10);
  return rule;
}

class FailureAlerts : public ::testing::Test {
 protected:
  // Returns the change of this call, if there is one.
  std::optional<AlertChange> look(std::int64_t success = 0, std::int64_t failed = 0) {
    AlertStep step = next_alert(rule, state, now, Outcomes{success, failed});
    state = step.state;
    if (!step.event) return std::nullopt;
    last = *step.event;
    return step.event->change;
  }

  FailureRule rule = rule_of_ten_minutes();
  AlertState state;
  AlertEvent last;
  Instant now = *instant_from("2026-11-28T12:00:00Z");
};

TEST_F(FailureAlerts, FireOnceAboveTheRate) {
  EXPECT_EQ(look(95, 5), std::nullopt) << "5 %";
  EXPECT_EQ(look(0, 1), AlertChange::fired);
  EXPECT_EQ(last, (AlertEvent{AlertChange::fired, now, Outcomes{95, 6}}));
  EXPECT_EQ(look(0, 50), std::nullopt);
  now += minutes(5);
  EXPECT_EQ(look(0, 50), std::nullopt);
  EXPECT_TRUE(state.is_firing);
}

TEST_F(FailureAlerts, DoNotFireForFewInvocations) {
  EXPECT_EQ(look(0, 19), std::nullopt);
  EXPECT_EQ(look(0, 1), AlertChange::fired);
}

TEST_F(FailureAlerts, ClearBelowTheLowerRateAfterTheWindow) {
  EXPECT_EQ(look(0, 20), AlertChange::fired);
  now += minutes(9);
  EXPECT_EQ(look(10'000, 0), std::nullopt) << "0.2 %, but within the window";
  now += minutes(1);
  EXPECT_EQ(look(), AlertChange::cleared);
  EXPECT_EQ(last.at, now);
  EXPECT_FALSE(state.is_firing);
  EXPECT_EQ(look(), std::nullopt);
}

TEST_F(FailureAlerts, ChangeNothingBetweenTheRates) {
  EXPECT_EQ(look(0, 20), AlertChange::fired);
  now += minutes(30);
  EXPECT_EQ(look(961, 39), std::nullopt) << "3.9 %: it still fires";
  EXPECT_EQ(look(560, 0), std::nullopt) << "2.5 %";
  EXPECT_EQ(look(1, 0), AlertChange::cleared);
  EXPECT_EQ(look(0, 20), std::nullopt) << "3.7 %: it does not fire again";
  EXPECT_EQ(look(0, 30), AlertChange::fired) << "5.5 %";
}

TEST_F(FailureAlerts, ClearWhenNothingIsInvokedAnyMore) {
  EXPECT_EQ(look(0, 20), AlertChange::fired);
  now += minutes(10) + seconds(9);
  EXPECT_EQ(look(), std::nullopt) << "the last part of the window";
  now += seconds(1);
  EXPECT_EQ(look(), AlertChange::cleared);
  EXPECT_EQ(last.outcomes, Outcomes());
}

TEST_F(FailureAlerts, StayWhileTheFewLeftInvocationsFail) {
  EXPECT_EQ(look(0, 20), AlertChange::fired);
  now += minutes(30);
  EXPECT_EQ(look(0, 1), std::nullopt);
  EXPECT_TRUE(state.is_firing);
}

TEST_F(FailureAlerts, ForgetInvocationsThatLeaveTheWindow) {
  EXPECT_EQ(look(0, 19), std::nullopt);
  now += minutes(11);
  EXPECT_EQ(look(0, 19), std::nullopt);
  EXPECT_EQ(outcomes_of(state), (Outcomes{0, 19}));
}

TEST_F(FailureAlerts, NeitherForgetNorRepeatIfTheClockIsSetBack) {
  EXPECT_EQ(look(0, 15), std::nullopt);
  Instant seen = now;
  now -= hours(24 * 365);
  EXPECT_EQ(look(0, 4), std::nullopt);
  EXPECT_EQ(state.seen_at, seen);
  EXPECT_EQ(look(0, 1), AlertChange::fired);
  EXPECT_EQ(last.at, seen);
  EXPECT_EQ(look(1'000, 0), std::nullopt);
  now = seen + minutes(20);
  EXPECT_EQ(look(), AlertChange::cleared);
}

TEST_F(FailureAlerts, AcceptAnyTimeAndAnyCounts) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  now = Instant::min();
  state.seen_at = Instant::min();
  EXPECT_EQ(look(-5, largest), AlertChange::fired);
  EXPECT_EQ(last.at, Instant()) << "1970";
  EXPECT_EQ(look(largest, -largest), std::nullopt);
  now = Instant::max();
  EXPECT_EQ(look(), AlertChange::cleared);
  EXPECT_EQ(look(-1, -1), std::nullopt);
  EXPECT_TRUE(state.slices.empty());
}

TEST_F(FailureAlerts, LoseTheirCountsButStillFireUnderAnotherWindow) {
  EXPECT_EQ(look(0, 20), AlertChange::fired);
  rule.window = minutes(20);
  now += minutes(15);
  EXPECT_EQ(look(), std::nullopt);
  EXPECT_TRUE(state.is_firing);
  EXPECT_EQ(outcomes_of(state), Outcomes());
  now += minutes(5);
  EXPECT_EQ(look(), AlertChange::cleared);
}

TEST_F(FailureAlerts, AreReadAsTheyWereWritten) {
  look(10, 20);
  now += minutes(3);
  look(1, 2);
  auto text = encode_json(state);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(decode_json<AlertState>(parse_json(*text).value()).value(), state);
}

TEST_F(FailureAlerts, DropSlicesOfADamagedState) {
  look(1, 1);
  AlertSlice slice = state.slices.front();
  state.slices.assign(5'000, slice);
  look(1, 0);
  EXPECT_EQ(outcomes_of(state), (Outcomes{1, 0}));
  state.slices.push_back({slice.number + 1, Outcomes{0, 7}});
  state.fired_at = Instant::max();
  state.is_firing = true;
  EXPECT_EQ(look(), std::nullopt);
  EXPECT_EQ(outcomes_of(state), (Outcomes{1, 0}));
}

// The same rule without slices, for a clock whose ticks are whole slices.
struct ExactAlert {
  struct Invocations {
    Instant at;
    Outcomes outcomes;
  };
  FailureRule rule;
  std::vector<Invocations> all = {};
  std::optional<Instant> fired_at = std::nullopt;

  Outcomes window(Instant now) const {
    Outcomes sum;
    for (const Invocations& each : all) {
      if (now - each.at > rule.window) continue;
      sum.success += each.outcomes.success;
      sum.failed += each.outcomes.failed;
    }
    return sum;
  }
  std::optional<AlertChange> look(Instant now, Outcomes since) {
    all.push_back({now, since});
    Outcomes sum = window(now);
    std::int64_t total = sum.success + sum.failed;
    double rate = total == 0 ? 0 : static_cast<double>(sum.failed) / static_cast<double>(total);
    if (!fired_at && total >= rule.invocations_min && rate > 0.05) {
      fired_at = now;
      return AlertChange::fired;
    }
    if (fired_at && now - *fired_at >= rule.window && rate < 0.025) {
      fired_at.reset();
      return AlertChange::cleared;
    }
    return std::nullopt;
  }
};

TEST(FailureAlertProperties, AgreeWithAListOfAllInvocations) {
  EXPECT_TRUE(rc::check("fires and clears alternate, and stay bounded", [] {
    ExactAlert exact{rule_of_ten_minutes()};
    AlertState state;
    Instant now = *instant_from("2026-11-28T12:00:00Z");
    bool is_firing = false;
    int steps = *rc::gen::inRange(0, 200);
    for (int i = 0; i < steps; ++i) {
      now += seconds(10) * *rc::gen::element(0, 1, 5, 20, 59, 60, 61, 100);
      Outcomes since{*rc::gen::inRange(0, 200), *rc::gen::element(0, 0, 0, 1, 5, 20)};
      AlertStep step = next_alert(exact.rule, state, now, since);
      state = step.state;
      std::optional<AlertChange> change;
      if (step.event) change = step.event->change;
      RC_ASSERT(change == exact.look(now, since));
      RC_ASSERT(outcomes_of(state) == exact.window(now));
      if (change) RC_ASSERT((*change == AlertChange::fired) == !is_firing);
      is_firing = state.is_firing;
      RC_ASSERT(state.slices.size() <= static_cast<std::size_t>(slices_max) + 1);
    }
  }));
}

TEST(FailureRules, OutOfRangeAreInvalid) {
  EXPECT_TRUE(check_rule(FailureRule()).ok());
  auto is_valid = [](auto edit) {
    FailureRule rule;
    edit(rule);
    return check_rule(rule).ok();
  };
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.window = seconds(59); }));
  EXPECT_TRUE(is_valid([](FailureRule& rule) { rule.window = seconds(60); }));
  EXPECT_TRUE(is_valid([](FailureRule& rule) { rule.window = hours(24 * 7); }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.window = hours(24 * 7) + seconds(1); }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.fire_above = 1'001; }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.fire_above = -1; }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.clear_below = -1; }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.clear_below = 51; }));
  EXPECT_TRUE(is_valid([](FailureRule& rule) { rule.clear_below = 50; }));
  EXPECT_FALSE(is_valid([](FailureRule& rule) { rule.invocations_min = 0; }));
}

}  // namespace
}  // namespace belay::analytics
