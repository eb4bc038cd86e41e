// The campaign for BELAY_SOAK_MINUTES, with at least BELAY_SOAK_KILLS kills, and short parts of it.

#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "belay/testing.h"
#include "tests/crash/campaign.h"
#include "tests/crash/play_fleet.h"
#include "tests/crash/play_schedule_fleet.h"

namespace belay::crash {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kKillsMin = 2'000;
constexpr std::size_t kBetweenARound = 250;
constexpr std::size_t kLossesMax = 20;
constexpr std::size_t kKillsOfASlice = 12;
constexpr std::size_t kKillsOfSchedules = 250;  // of one store

TEST(CrashSoak, NoKillLosesOrRepeatsAnything) {
  auto baseline = Baseline::make();
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  const Baseline& undisturbed = **baseline;
  std::uint64_t kills_min = number_from("BELAY_SOAK_KILLS", kKillsMin);
  auto minutes = std::chrono::minutes(number_from("BELAY_SOAK_MINUTES", 0));
  SteadyClock::time_point end = SteadyClock::now() + minutes;

  Campaign all;
  all.seed = chosen_seed();
  testing::SeededRandom random(all.seed);
  do {
    std::vector<Fate> fates = at_every_commit(undisturbed);
    for (auto& more : {at_every_takeover(undisturbed, random),
                       between_commits(undisturbed, kBetweenARound, random)}) {
      fates.insert(fates.end(), more.begin(), more.end());
    }
    all.add(run_campaign(undisturbed, fates, all.seed));
    std::cout << all.cases << " stores, " << all.kill_count() << " kills" << std::endl;
  } while (all.losses.size() < kLossesMax &&
           (all.kill_count() < kills_min || SteadyClock::now() < end));
  for (const std::string& loss : all.losses) ADD_FAILURE() << loss;
  std::cout << all.evidence(undisturbed) << std::endl;
}

// Plays fleets with successive seeds until there are enough of the kills that count.
void soak_fleets(const std::function<FleetPlan(std::uint64_t seed)>& plan_with,
                 std::size_t FleetReport::* kills, const std::string& fleet) {
  std::uint64_t kills_min = number_from("BELAY_SOAK_KILLS", kKillsMin);
  std::uint64_t seed = chosen_seed();
  FleetReport all;
  for (std::uint64_t i = 0; all.*kills < kills_min && all.faults.size() < kLossesMax; ++i) {
    all.add(play_fleet(plan_with(seed + i)));
  }
  std::cout << all.evidence(fleet, seed) << std::endl;
}

FleetPlan parcel_plan(std::uint64_t seed) {
  FleetPlan plan;
  plan.seed = seed;
  return plan;
}

// Two workers on one SQLite file, with effects of all classes that are counted at their receivers.
TEST(FleetSoak, NoKillLosesACommitOrRepeatsAnEffectBeyondItsClass) {
  soak_fleets(parcel_plan, &FleetReport::kills, "fleet of two workers");
}

// The same for an agent with tools: no call whose result is committed is repeated.
TEST(AgentFleetSoak, NoKillRepeatsACommittedCallOrAnUnkeyedOne) {
  auto plan_with = [](std::uint64_t seed) { return agent_plan(seed); };
  soak_fleets(plan_with, &FleetReport::kills, "fleet of two workers with an agent");
}

// The same for goals, which call an agent and use messages. The kills that count are those while a
// message waits.
TEST(GoalFleetSoak, NoKillRepeatsACommittedCallOrLosesAMessage) {
  soak_fleets(goal_plan, &FleetReport::waiting, "fleet of two workers with goals");
}

// Three workers with schedules, while the clock jumps: no tick is lost, and none has two runs.
TEST(ScheduleFleetSoak, NoKillAndNoJumpOfTheClockLosesATickOrRepeatsOne) {
  std::uint64_t kills_min = number_from("BELAY_SOAK_KILLS", kKillsMin);
  std::uint64_t seed = chosen_seed();
  ScheduleFleetReport all;
  for (std::uint64_t i = 0; all.kills < kills_min && all.faults.size() < kLossesMax; ++i) {
    ScheduleFleetPlan plan;
    plan.seed = seed + i;
    plan.kills = kKillsOfSchedules;
    all.add(play_schedule_fleet(plan));
  }
  std::cout << all.evidence(seed) << std::endl;
}

// Short parts of the campaigns, with another seed each time: see scripts/campaigns.
TEST(CrashSlice, NoKillBetweenCommitsLosesOrRepeatsAnything) {
  auto baseline = Baseline::make();
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  std::uint64_t seed = chosen_seed();
  testing::SeededRandom random(seed);
  Campaign slice =
      run_campaign(**baseline, between_commits(**baseline, kKillsOfASlice, random), seed);
  for (const std::string& loss : slice.losses) ADD_FAILURE() << loss;
  EXPECT_GT(slice.kill_count(), 0u);
  std::cout << slice.evidence(**baseline) << std::endl;
}

TEST(FleetSlice, NoKillLosesACommitOrRepeatsAnEffectBeyondItsClass) {
  FleetPlan plan = parcel_plan(chosen_seed());
  plan.kills = kKillsOfASlice;
  std::cout << play_fleet(plan).evidence("fleet of two workers", plan.seed) << std::endl;
}

TEST(AgentFleetSlice, NoKillRepeatsACommittedCallOrAnUnkeyedOne) {
  FleetPlan plan = agent_plan(chosen_seed());
  plan.kills = kKillsOfASlice;
  std::cout << play_fleet(plan).evidence("fleet of two workers with an agent", plan.seed)
            << std::endl;
}

TEST(GoalFleetSlice, NoKillRepeatsACommittedCallOrLosesAMessage) {
  FleetPlan plan = goal_plan(chosen_seed());
  plan.kills = kKillsOfASlice;
  std::cout << play_fleet(plan).evidence("fleet of two workers with goals", plan.seed) << std::endl;
}

TEST(ScheduleFleetSlice, NoKillAndNoJumpOfTheClockLosesATickOrRepeatsOne) {
  ScheduleFleetPlan plan;
  plan.seed = chosen_seed();
  plan.kills = kKillsOfASlice;
  plan.jumps = 1;
  std::cout << play_schedule_fleet(plan).evidence(plan.seed) << std::endl;
}

}  // namespace
}  // namespace belay::crash
