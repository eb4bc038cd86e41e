// Two workers on one SQLite file are killed a hundred times; the receivers count the calls.

#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/play_fleet.h"

namespace belay::crash {
namespace {

constexpr std::size_t kKillsAStore = kSanitized ? 20 : 50;
// Further stores, until each kind of zombie has occurred: which ones occur depends on the machine.
constexpr std::size_t kStoresMax = 12;

bool has_met_all(const FleetReport& report) {
  if (kSanitized) return true;  // twenty kills might hit no running run
  return report.zombies > 0 && report.robbed > 0 && report.fenced > 0 && report.claiming > 0;
}

TEST(Fleet, NoKillLosesACommitOrRepeatsAnEffectBeyondItsClass) {
  std::uint64_t seed = chosen_seed();
  FleetReport all;
  for (std::size_t i = 0; i == 0 || (!has_met_all(all) && i < kStoresMax); ++i) {
    FleetPlan plan;
    plan.seed = seed + i;
    plan.kills = kKillsAStore;
    plan.zombies = kSanitized ? 0 : 3;
    all.add(play_fleet(plan));
  }
  std::cout << all.evidence("fleet of two workers", seed) << std::endl;
  EXPECT_GE(all.kills, kKillsAStore);
  EXPECT_TRUE(has_met_all(all));
  EXPECT_GT(all.takeovers, 0u);
}

}  // namespace
}  // namespace belay::crash
