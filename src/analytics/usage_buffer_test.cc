// UsageBuffer: loses no invocation, whatever fails, and stays bounded.

#include "analytics/usage_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace belay::analytics {
namespace {

using std::chrono::hours;

InvocationRecord invocation(std::string agent, int day) {
  InvocationRecord record;
  record.agent = std::move(agent);
  record.finished_at = *instant_from("2026-01-01T12:00:00Z") + hours(24) * day;
  record.latency = milliseconds(100 + day);
  record.input_tokens = 3;
  return record;
}

std::int64_t invocations_of(const std::vector<UsageDay>& days) {
  std::int64_t sum = 0;
  for (const UsageDay& day : days) sum += day.totals.invocations();
  return sum;
}

TEST(UsageBuffers, AddUpWhatTheyReceiveUntilItIsTaken) {
  UsageBuffer buffer;
  EXPECT_TRUE(buffer.take().empty());
  buffer.add(invocation("a", 0));
  buffer.add(invocation("a", 0));
  buffer.add(invocation("a", 1));
  EXPECT_EQ(buffer.size(), 2u);
  EXPECT_EQ(buffer.invocations(), 3);
  std::vector<UsageDay> days = buffer.take();
  ASSERT_EQ(days.size(), 2u);
  EXPECT_EQ(days[0].date, "2026-01-01");
  EXPECT_EQ(days[0].totals.input_tokens, 6);
  EXPECT_TRUE(buffer.is_empty());
  EXPECT_TRUE(buffer.take().empty());
}

TEST(UsageBuffers, MergeWhatWasNotWrittenWithWhatCameSince) {
  UsageBuffer buffer;
  buffer.add(invocation("a", 0));
  std::vector<UsageDay> days = buffer.take();
  buffer.add(invocation("a", 0));
  buffer.put_back(days);
  days = buffer.take();
  ASSERT_EQ(days.size(), 1u);
  EXPECT_EQ(days[0].totals.invocations(), 2);
  EXPECT_EQ(days[0].totals.latency.count(), 2);
}

TEST(UsageBuffers, WriteEachInvocationOnceThroughFailedWrites) {
  EXPECT_TRUE(rc::check("any order of additions, writes and failures", [] {
    UsageBuffer buffer(*rc::gen::inRange<std::size_t>(0, 5));
    std::vector<InvocationRecord> records;
    std::vector<UsageDay> written;
    int steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
      if (*rc::gen::inRange(0, 4) > 0) {
        records.push_back(invocation(*rc::gen::element<std::string>("a", "b", "c", "d"),
                                     *rc::gen::inRange(0, 3)));
        buffer.add(records.back());
        continue;
      }
      std::vector<UsageDay> days = buffer.take();
      if (*rc::gen::arbitrary<bool>()) {
        written.insert(written.end(), days.begin(), days.end());
      } else {
        buffer.put_back(days);
      }
    }
    for (UsageDay& day : buffer.take()) written.push_back(std::move(day));
    // The agents can differ above the maximum, the days and all sums cannot.
    auto without_agents = [](std::vector<UsageDay> days) {
      for (UsageDay& day : days) day.agent = "all";
      return merged_days(days);
    };
    RC_ASSERT(without_agents(written) == without_agents(usage_days_of(records)));
  }));
}

TEST(UsageBuffers, CountFurtherAgentsTogetherAboveTheirMaximum) {
  UsageBuffer buffer(2);
  for (const char* agent : {"a", "b", "c", "d", "a"}) buffer.add(invocation(agent, 0));
  buffer.add(invocation("c", 1));
  std::vector<UsageDay> days = buffer.take();
  ASSERT_EQ(days.size(), 4u);
  EXPECT_EQ(days[0].agent, other_agents);
  EXPECT_EQ(days[0].totals.invocations(), 2);
  EXPECT_EQ(days[1].agent, "a");
  EXPECT_EQ(days[1].totals.invocations(), 2);
  EXPECT_EQ(days[3].agent, other_agents);
  EXPECT_EQ(days[3].date, "2026-01-02");
}

TEST(UsageBuffers, HaveRoomAgainAfterTheyWereTaken) {
  UsageBuffer buffer(1);
  buffer.add(invocation("a", 0));
  buffer.add(invocation("b", 0));
  EXPECT_EQ(buffer.take().size(), 2u);
  buffer.add(invocation("b", 0));
  std::vector<UsageDay> days = buffer.take();
  ASSERT_EQ(days.size(), 1u);
  EXPECT_EQ(days[0].agent, "b");
}

TEST(UsageBuffers, StayBoundedWhateverTheClockAndTheNamesAre) {
  UsageBuffer buffer(10);
  for (int i = 0; i < 3'000; ++i) buffer.add(invocation("agent-" + std::to_string(i), i));
  EXPECT_EQ(buffer.size(), 10 + UsageBuffer::other_days_max);
  EXPECT_EQ(buffer.invocations(), 3'000);
  EXPECT_EQ(invocations_of(buffer.take()), 3'000);
}

TEST(UsageBuffers, CountAClockThatIsSetBackUnderTheDayItShows) {
  UsageBuffer buffer;
  for (int day : {5, 4, 5, -400'000}) buffer.add(invocation("a", day));
  std::vector<UsageDay> days = buffer.take();
  ASSERT_EQ(days.size(), 3u);
  EXPECT_EQ(days[1].date, "2026-01-05");
  EXPECT_EQ(days[2].totals.invocations(), 2);
}

}  // namespace
}  // namespace belay::analytics
