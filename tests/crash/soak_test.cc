// The campaign for as long as one likes: BELAY_SOAK_MINUTES, and at least BELAY_SOAK_KILLS kills.

#include <gtest/gtest.h>

#include <iostream>

#include "belay/testing.h"
#include "tests/crash/campaign.h"

namespace belay::crash {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kKillsMin = 2'000;
constexpr std::size_t kBetweenARound = 250;
constexpr std::size_t kLossesMax = 20;

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

}  // namespace
}  // namespace belay::crash
