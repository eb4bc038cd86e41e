// Two workers that execute goals, with agents that these call and messages to them, are killed at
// any time; the receivers count the calls, and each message is used once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/play_fleet.h"
#include "tests/crash/sent_messages.h"

namespace belay::crash {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GoalFleet, NoKillRepeatsACommittedCallOrLosesAMessage) {
  FleetPlan plan = goal_plan(chosen_seed());
  plan.kills = kSanitized ? 10 : 20;
  FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet of two workers with goals", plan.seed) << std::endl;
  EXPECT_GE(report.kills, plan.kills);
  EXPECT_GT(report.takeovers, 0u);
  EXPECT_GT(report.messages, 0u);
}

const std::vector<SentMessage> kThree = {{"a"}, {"b", false}, {"c"}};

TEST(SentMessages, AreUsedOnceAndInOrder) {
  EXPECT_THAT(message_faults(kThree, {"a", "b", "c"}), IsEmpty());
  EXPECT_THAT(message_faults(kThree, {"a", "c"}), IsEmpty()) << "b was perhaps not stored";
  EXPECT_THAT(message_faults(kThree, {"a", "b"}), ElementsAre(HasSubstr("not use \"c\"")));
  EXPECT_THAT(message_faults(kThree, {"c", "a"}), ElementsAre(HasSubstr("after a later one")));
  EXPECT_THAT(message_faults(kThree, {"a", "c", "d"}), ElementsAre(HasSubstr("not sent")));
  EXPECT_THAT(message_faults(kThree, {"a", "a", "c"}),
              ElementsAre(HasSubstr("several times"), HasSubstr("several times")));
}

}  // namespace
}  // namespace belay::crash
