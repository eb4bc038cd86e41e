// FailureRate: when the alert is raised and cleared.

#include "telemetry/failure_rate.h"

#include <gtest/gtest.h>

namespace belay::telemetry {
namespace {

using std::chrono::minutes;
using Change = FailureRate::Change;

FailureAlert alert_of(double rate, std::size_t runs_min) {
  FailureAlert alert;
  alert.rate = rate;
  alert.window = minutes(10);
  alert.runs_min = runs_min;
  return alert;
}

class FailureRates : public ::testing::Test {
 protected:
  Change count(int successes, int failures) {
    Change last = Change::none;
    for (int i = 0; i < successes; ++i) note(rate.count(false, now), last);
    for (int i = 0; i < failures; ++i) note(rate.count(true, now), last);
    return last;
  }
  static void note(Change change, Change& last) {
    if (change != Change::none) last = change;
  }

  Instant now = *instant_from("2026-11-26T12:00:00Z");
  FailureRate rate{alert_of(0.05, 20)};
};

TEST_F(FailureRates, RaiseTheAlertAboveTheRateAndOnlyOnce) {
  EXPECT_EQ(count(95, 5), Change::none) << "5 %";
  EXPECT_EQ(count(0, 1), Change::raised);
  EXPECT_TRUE(rate.is_raised());
  EXPECT_EQ(count(0, 5), Change::none);
  EXPECT_EQ(rate.ended(), 106u);
  EXPECT_EQ(rate.failed(), 11u);
}

TEST_F(FailureRates, OfFewRunsRaiseNothing) {
  EXPECT_EQ(count(0, 19), Change::none);
  EXPECT_EQ(count(0, 1), Change::raised);
}

TEST_F(FailureRates, ClearTheAlertBelowHalfOfTheRate) {
  EXPECT_EQ(count(90, 10), Change::raised);
  EXPECT_EQ(count(150, 0), Change::none) << "4 %";
  EXPECT_EQ(count(149, 0), Change::none) << "2.51 %";
  EXPECT_EQ(count(2, 0), Change::cleared);
  EXPECT_FALSE(rate.is_raised());
}

TEST_F(FailureRates, ForgetRunsThatLeaveTheWindow) {
  EXPECT_EQ(count(0, 30), Change::raised);
  now += minutes(9);
  EXPECT_EQ(rate.look(now), Change::none);
  now += minutes(1);
  EXPECT_EQ(rate.look(now), Change::cleared) << "nothing runs any more";
  EXPECT_EQ(rate.ended(), 0u);
  EXPECT_EQ(rate.rate(), 0);
}

TEST_F(FailureRates, StayBoundedIfTheClockIsSetBack) {
  now += minutes(100'000);
  count(0, 10);
  now -= minutes(100'000);
  for (int i = 0; i < 100'100; ++i) rate.count(false, now);
  EXPECT_EQ(rate.ended(), 100'000u);
  EXPECT_EQ(rate.failed(), 0u);
}

TEST_F(FailureRates, RaiseNothingWithoutAnAlert) {
  FailureAlert off = alert_of(0.05, 20);
  off.is_on = false;
  FailureRate silent(off);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(silent.count(true, now), Change::none);
  EXPECT_EQ(silent.rate(), 1);
}

}  // namespace
}  // namespace belay::telemetry
