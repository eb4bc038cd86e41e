#pragma once
// tests/crash/campaign.h - many fates at once, and what is told of them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/crash/campaign_size.h"
#include "tests/crash/killed_case.h"

namespace belay::crash {

struct Campaign {
  std::uint64_t seed = 0;
  std::size_t cases = 0;
  std::map<Moment, std::size_t> kills;
  // One text a case that lost something: what was killed when, what was lost, where its store is.
  std::vector<std::string> losses;

  std::size_t kill_count() const;
  void add(const Campaign& other);
  // "evidence: 240 kills at 22 commits x {before: 44, after: 44, between: 152}: 0 losses, seed 7"
  std::string evidence(const Baseline& baseline) const;
};

// BELAY_CRASH_SEED, or BELAY_SOAK_SEED, or a new one.
std::uint64_t chosen_seed();

// Every store lies in a folder of its own, which stays when something was lost.
Campaign run_campaign(const Baseline& baseline, const std::vector<Fate>& fates, std::uint64_t seed);

}  // namespace belay::crash
