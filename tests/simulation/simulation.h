#pragma once
// tests/simulation/simulation.h - plays one seed of a plan: several processes of Belay on one disk,
// a world outside, and faults; first everything is broken and what must never happen looked for,
// then all is mended, and everything has to come to its end within a bound.
//
// The code is Belay's own: engine, driver, leases, and the SQLite store over a disk that a test can
// cut off. Time, chance, threads, disk and network are simulated. The same plan and seed give the
// same events, byte for byte.

#include "tests/simulation/plan.h"

namespace belay::simulation {

struct Played {
  std::vector<std::string> troubles;  // empty: every promise was kept
  std::uint64_t events = 0;           // lines of the log
  std::uint64_t digest = 0;           // of these lines
  std::uint64_t faults = 0;
  std::size_t runs = 0;
  std::size_t processes = 0;
  std::size_t commits = 0;  // acknowledged
  std::chrono::seconds simulated{0};
  Coverage coverage;
};

// Seeds together.
struct Tally {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  std::uint64_t events = 0;
  std::uint64_t faults = 0;
  std::chrono::seconds simulated{0};
  Coverage coverage;

  void add(const Played& played);
  // "200 seeds, 0 failed; 594986 events, 10991 faults, 18 simulated hours, 5700 events/s"
  std::string text(std::chrono::duration<double> time) const;
};

// In a folder of its own, which exists and is empty. `listener` is given each line of the log.
Played simulate(const Plan& plan, std::uint64_t seed, const std::string& folder,
                std::function<void(const std::string&)> listener = nullptr);

}  // namespace belay::simulation
