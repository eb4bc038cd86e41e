// Two workers that execute an agent with tools are killed at any time; the receivers count the
// calls, and the program checks each conversation.

#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/play_fleet.h"

namespace belay::crash {
namespace {

constexpr std::size_t kKillsOfAgents = kSanitized ? 20 : 40;

TEST(AgentFleet, NoKillRepeatsACommittedCallOrAnUnkeyedOne) {
  FleetPlan plan = agent_plan(chosen_seed());
  plan.kills = kKillsOfAgents;
  FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet of two workers with an agent", plan.seed) << std::endl;
  EXPECT_GE(report.kills, kKillsOfAgents);
  EXPECT_GT(report.takeovers, 0u);
}

// Each of these programs has a deliberate error, which the campaign must report with one of these
// texts.
struct AgentDefect {
  std::string name;
  std::size_t kills = 0;
  std::string fault;
};

class AgentFleetDetection : public ::testing::TestWithParam<AgentDefect> {};

TEST_P(AgentFleetDetection, ADefectIsReported) {
  std::uint64_t seed = chosen_seed();
  std::string reported;
  // A defect that only a kill between a call and its commit reveals can need several stores.
  for (int i = 0; i < 5 && reported.find(GetParam().fault) == reported.npos; ++i) {
    FleetPlan plan = agent_plan(seed + static_cast<std::uint64_t>(i), GetParam().name);
    plan.kills = GetParam().kills;
    plan.site.environment["FLEET_PACE"] = "20";
    std::string parent = new_folder();
    for (const std::string& fault : run_fleet(plan, parent + "/fleet").faults) {
      reported += fault + "\n";
    }
    remove_folder(parent);
  }
  EXPECT_NE(reported.find(GetParam().fault), reported.npos) << reported;
}

INSTANTIATE_TEST_SUITE_P(Defects, AgentFleetDetection,
                         ::testing::Values(AgentDefect{"send_again", 15, "send was called 2 times"},
                                           AgentDefect{"other_keys", 15, "charge has seen"},
                                           AgentDefect{"lost_result", 1, "has no result"},
                                           AgentDefect{"forgetful", 1,
                                                       "repeated step 1 after step 2"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace belay::crash
