#pragma once
// tests/crash/schedule_fleet.h - several workers on one store that start the runs of schedules
//
// The workers are killed and restarted, and the machine's clock jumps, until the schedules are
// paused. Then each tick must have exactly one decision, and each start exactly one run.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/crash/decided_ticks.h"

namespace belay::crash {

struct ScheduleFleetPlan {
  std::uint64_t seed = 0;
  std::size_t workers = 3;
  std::size_t kills = 60;  // at least
  std::size_t jumps = 4;   // of the clock, at least
};

struct ScheduleFleetReport {
  std::size_t kills = 0;
  std::size_t jumps = 0;
  TickCounts ticks;
  std::size_t runs = 0;
  std::size_t repeated = 0;         // further calls of a keyed effect with its key
  std::vector<std::string> faults;  // empty: no tick was lost, and none has two runs

  void add(const ScheduleFleetReport& other);
  std::string evidence(std::uint64_t seed) const;
};

// Runs a fleet in `folder`, which must not exist yet and is not removed at the end.
ScheduleFleetReport run_schedule_fleet(const ScheduleFleetPlan& plan, const std::string& folder);

}  // namespace belay::crash
