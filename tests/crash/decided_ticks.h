#pragma once
// tests/crash/decided_ticks.h - checks that each tick of a schedule was decided exactly once.

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::crash {

// A schedule whose ticks are the multiples of a period, with all of its decided ticks.
struct DecidedTicks {
  std::string name;
  std::chrono::seconds period{1};
  std::chrono::seconds catch_up{60};
  Value schedule;      // in the form of `belay schedules show`
  Value::Array ticks;  // in the form of `belay schedules ticks`, in any order
};

// Counts of ticks by their decision.
struct TickCounts {
  std::int64_t started = 0, skipped = 0, missed = 0;
  std::int64_t all() const { return started + skipped + missed; }
};

struct TickVerdict {
  TickCounts counts;
  std::set<std::string> runs;       // that ticks have started
  std::vector<std::string> faults;  // lost, repeated and undecided ticks; counts that differ
};

// The schedule is paused, and starts no run: every tick up to Schedule::decided has a decision.
TickVerdict judge_ticks(const DecidedTicks& decided);

}  // namespace belay::crash
