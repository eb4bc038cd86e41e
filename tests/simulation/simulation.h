#pragma once
// tests/simulation/simulation.h - executes one seed of a plan
//
// A simulation consists of several processes of Belay on one disk, a world outside, and faults. In
// the first phase, faults are injected and violations of guarantees are detected. Then all faults
// end, and every run must end within a bounded time.
//
// The code is Belay's own: engine, driver, leases, and the SQLite store over a disk that a test can
// cut off. Time, randomness, threads, disk and network are simulated. The same plan and seed
// produce the same events, byte for byte.

#include "tests/simulation/plan.h"

namespace belay::simulation {

struct Played {
  std::vector<std::string> troubles;  // empty: no guarantee was violated
  std::uint64_t events = 0;           // lines of the log
  std::uint64_t digest = 0;           // of these lines
  std::uint64_t faults = 0;
  std::size_t runs = 0;
  std::size_t processes = 0;
  std::size_t commits = 0;  // acknowledged
  std::chrono::seconds simulated{0};
  Coverage coverage;
};

// The sum over several seeds.
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

// Executes a seed in `folder`, which must exist and be empty. Calls `listener` with each line of
// the log.
Played simulate(const Plan& plan, std::uint64_t seed, const std::string& folder,
                std::function<void(const std::string&)> listener = nullptr);

}  // namespace belay::simulation
