#pragma once
// tests/crash/campaign.h - runs many cases concurrently and summarises their results.

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
  // One text per case with a loss: the killed process and moment, the loss, and the folder of the
  // store.
  std::vector<std::string> losses;

  std::size_t kill_count() const;
  void add(const Campaign& other);
  // "evidence: 240 kills at 22 commits x {before: 44, after: 44, between: 152}: 0 losses, seed 7"
  std::string evidence(const Baseline& baseline) const;
};

// Returns BELAY_CRASH_SEED, or else BELAY_SOAK_SEED, or else a new seed.
std::uint64_t chosen_seed();

// Each case has its own store in its own folder, which is kept if something was lost.
Campaign run_campaign(const Baseline& baseline, const std::vector<Fate>& fates, std::uint64_t seed);

}  // namespace belay::crash
