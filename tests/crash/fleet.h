#pragma once
// tests/crash/fleet.h - several worker processes on one SQLite file, killed, stopped and started
// again while a person decides, until every run has ended; and what the receivers counted.

#include <cstdint>
#include <string>
#include <vector>

namespace belay::crash {

struct FleetPlan {
  std::uint64_t seed = 0;
  std::size_t workers = 2;
  std::size_t runs = 6;    // that are under way at the same time
  std::size_t kills = 50;  // of workers, and of processes that decide
  // Of so many strokes one stops a worker (SIGSTOP), takes its session for dead behind its back,
  // lets the others take its runs over, and wakes it up again.
  std::size_t zombie_every = 8;
};

struct FleetReport {
  std::size_t kills = 0;
  std::size_t zombies = 0;
  std::size_t takeovers = 0;  // claims that were committed
  std::size_t runs = 0;       // that were begun, and came to their end
  std::size_t repeated = 0;   // calls beyond the first with their key, where the class allows it
  std::vector<std::string> faults;  // empty: nothing was lost, and nothing repeated that may not

  void add(const FleetReport& other);
  std::string evidence(std::uint64_t seed) const;
};

// Plays a fleet in a folder that does not exist yet; it is left as it is at the end.
FleetReport run_fleet(const FleetPlan& plan, const std::string& folder);

}  // namespace belay::crash
