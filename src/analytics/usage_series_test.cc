// daily_series() and usage_by_agent(): zero days, limits, and equal sums.

#include "analytics/usage_series.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace belay::analytics {
namespace {

UsageDay counted_day(std::string agent, std::string date, std::int64_t success) {
  UsageDay day{std::move(agent), std::move(date)};
  day.totals.success = success;
  day.totals.latency.add(10, success);
  return day;
}

const std::vector<UsageDay> stored = {
    counted_day("a", "2026-03-01", 4), counted_day("b", "2026-03-01", 50),
    counted_day("a", "2026-02-27", 2), counted_day("a", "2026-03-01", 1),
    counted_day("a", "2025-03-01", 9),
};

TEST(DailySeries, FillsDaysWithoutInvocationsWithZeros) {
  auto series = daily_series(stored, "a", "2026-03-02", 4);
  ASSERT_TRUE(series.ok());
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const UsageDay& day : *series) {
    EXPECT_EQ(day.agent, "a");
    found.emplace_back(day.date, day.totals.invocations());
  }
  EXPECT_EQ(found,
            (std::vector<std::pair<std::string, std::int64_t>>{
                {"2026-02-27", 2}, {"2026-02-28", 0}, {"2026-03-01", 5}, {"2026-03-02", 0}}));
}

TEST(DailySeries, AddsAllAgentsIfNoneIsNamed) {
  auto series = daily_series(stored, "", "2026-03-01", 1);
  ASSERT_TRUE(series.ok());
  EXPECT_EQ(series->front().totals.invocations(), 55);
  EXPECT_EQ(series->front().agent, "");
}

TEST(DailySeries, HasTheRequestedLengthAndNoGap) {
  for (std::int64_t days : {1, 2, 30, 60, 61, 364, 365}) {
    auto series = daily_series({}, "a", "2024-03-01", days);
    ASSERT_TRUE(series.ok());
    ASSERT_EQ(series->size(), static_cast<std::size_t>(days));
    for (std::size_t i = 1; i < series->size(); ++i) {
      ASSERT_EQ(day_after((*series)[i - 1].date), (*series)[i].date);
    }
    ASSERT_EQ(series->back().date, "2024-03-01");
  }
}

TEST(DailySeries, RejectsOtherNumbersOfDaysAndDates) {
  for (std::int64_t days : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{366},
                            std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(daily_series(stored, "a", "2026-03-01", days).error().code, ErrorCode::invalid);
  }
  for (const char* date : {"", "today", "2026-02-29", "2026-3-1", "2026-03-01T00:00:00Z"}) {
    EXPECT_EQ(daily_series(stored, "a", date, 3).error().code, ErrorCode::invalid) << date;
  }
  EXPECT_TRUE(daily_series(stored, "a", "0001-01-03", 3).ok());
  EXPECT_EQ(daily_series(stored, "a", "0001-01-03", 4).error().code, ErrorCode::invalid);
}

TEST(UsageByAgent, AddsTheDaysOfThePeriod) {
  auto agents = usage_by_agent(stored, "2026-02-27", "2026-03-01");
  ASSERT_TRUE(agents.ok());
  ASSERT_EQ(agents->size(), 2u);
  EXPECT_EQ(agents->front().agent, "a");
  EXPECT_EQ(agents->front().totals.invocations(), 7);
  EXPECT_EQ(agents->front().totals.latency.count(), 7);
  EXPECT_EQ(agents->back().totals.invocations(), 50);
  EXPECT_TRUE(usage_by_agent(stored, "2026-03-02", "2026-03-02")->empty());
}

TEST(UsageByAgent, RejectsPeriodsWithoutDays) {
  EXPECT_EQ(usage_by_agent(stored, "2026-03-02", "2026-03-01").error().code, ErrorCode::invalid);
  EXPECT_EQ(usage_by_agent(stored, "", "2026-03-01").error().code, ErrorCode::invalid);
  EXPECT_EQ(usage_by_agent(stored, "2026-03-01", "x").error().code, ErrorCode::invalid);
}

TEST(UsageByAgent, HasTheSumsOfTheDailySeries) {
  EXPECT_TRUE(rc::check("two views of the same days", [] {
    std::vector<UsageDay> days;
    int count = *rc::gen::inRange(0, 20);
    for (int i = 0; i < count; ++i) {
      days.push_back(counted_day("a", "2026-03-0" + std::to_string(*rc::gen::inRange(1, 10)),
                                 *rc::gen::inRange(1, 1'000)));
    }
    auto series = daily_series(days, "a", "2026-03-09", 5);
    auto agents = usage_by_agent(days, "2026-03-05", "2026-03-09");
    RC_ASSERT(series.ok());
    RC_ASSERT(agents.ok());
    UsageTotals of_series;
    for (const UsageDay& day : *series) of_series.merge(day.totals);
    UsageTotals of_agent;
    for (const AgentUsage& each : *agents) of_agent.merge(each.totals);
    RC_ASSERT(of_series == of_agent);
  }));
}

}  // namespace
}  // namespace belay::analytics
