#pragma once
// tests/crash/campaign.h - many fates at once, and what is told of them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/crash/killed_case.h"

namespace belay::crash {

// Under a sanitizer each process takes several times as long: there a part of the kills has to do,
// for what only the sanitizer sees. The whole counts are those of the -O2 build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

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
// The number that an environment variable holds; `otherwise` where it holds none.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise);

// Every store lies in a folder of its own, which stays when something was lost.
Campaign run_campaign(const Baseline& baseline, const std::vector<Fate>& fates, std::uint64_t seed);

}  // namespace belay::crash
