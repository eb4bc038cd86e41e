// Two workers on one SQLite file are killed two hundred times; the receivers count the calls.

#include "tests/crash/fleet.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

// Several stores in turn, so that each one remains small enough to be read completely at its end.
constexpr std::size_t kKillsAStore = kSanitized ? 20 : 50;
constexpr std::size_t kStores = kSanitized ? 1 : 4;

TEST(Fleet, NoKillLosesACommitOrRepeatsAnEffectBeyondItsClass) {
  std::uint64_t seed = chosen_seed();
  FleetReport all;
  for (std::size_t i = 0; i < kStores; ++i) {
    FleetPlan plan;
    plan.seed = seed + i;
    plan.kills = kKillsAStore;
    plan.zombies = kSanitized ? 0 : 3;
    std::string parent = new_folder();
    FleetReport report = run_fleet(plan, parent + "/fleet");
    for (const std::string& fault : report.faults) {
      ADD_FAILURE() << "BELAY_CRASH_SEED=" << seed << ", store " << i << " in " << parent << ": "
                    << fault;
    }
    if (report.faults.empty()) remove_folder(parent);
    all.add(report);
  }
  std::cout << all.evidence("fleet of two workers", seed) << std::endl;
  EXPECT_GE(all.kills, kKillsAStore * kStores);
  if (!kSanitized) {  // twenty kills might hit no running run
    EXPECT_GT(all.zombies, 0u);
    EXPECT_GT(all.robbed, 0u);
    EXPECT_GT(all.fenced, 0u);
    EXPECT_GT(all.claiming, 0u);
  }
  EXPECT_GT(all.takeovers, 0u);
}

}  // namespace
}  // namespace belay::crash
