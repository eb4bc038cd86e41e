#include "cron/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;

TEST(Jitters, AreTheSameInEveryProcessAndVersion) {
  Instant nine = at("2026-11-20T09:00:00Z");
  // Stored ticks depend on these numbers: they must not change.
  EXPECT_EQ(jitter("reports", nine, minutes(5)), microseconds(92'086'190));
  EXPECT_EQ(jitter("reports", nine + hours(24), minutes(5)), microseconds(260'186'609));
  EXPECT_EQ(jitter("mails", nine, minutes(5)), microseconds(82'349'702));
  EXPECT_EQ(jitter("", nine, hours(24 * 365)), microseconds(12'771'465'519'364));
}

TEST(Jitters, AreBelowTheirMaximum) {
  Instant nine = at("2026-11-20T09:00:00Z");
  EXPECT_EQ(jitter("reports", nine, microseconds(0)), microseconds(0));
  EXPECT_EQ(jitter("reports", nine, microseconds(-5)), microseconds(0));
  EXPECT_EQ(jitter("reports", nine, microseconds::min()), microseconds(0));
  EXPECT_EQ(jitter("reports", nine, microseconds(1)), microseconds(0));
  for (int day = 0; day < 1'000; ++day) {
    microseconds delay = jitter("reports", nine + hours(24) * day, microseconds(3));
    EXPECT_GE(delay.count(), 0);
    EXPECT_LT(delay.count(), 3);
  }
  EXPECT_GE(jitter("reports", nine, microseconds::max()).count(), 0);
  EXPECT_LT(jitter("reports", nine, microseconds::max()), microseconds::max());
}

TEST(Jitters, AreSpreadEvenlyOverSchedulesAndTicks) {
  Instant nine = at("2026-11-20T09:00:00Z");
  std::array<int, 10> of_schedules{};
  std::array<int, 10> of_ticks{};
  for (int i = 0; i < 10'000; ++i) {
    auto tenth = [](microseconds delay) {
      return static_cast<std::size_t>(delay / std::chrono::seconds(30));
    };
    ++of_schedules[tenth(jitter("schedule-" + std::to_string(i), nine, minutes(5)))];
    ++of_ticks[tenth(jitter("reports", nine + minutes(i), minutes(5)))];
  }
  for (const auto& counts : {of_schedules, of_ticks}) {
    auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_GT(*least, 880);  // four standard deviations
    EXPECT_LT(*most, 1'120);
  }
}

}  // namespace
}  // namespace belay::cron
