#pragma once
// tests/crash/killed_case.h - one store: a kill, the take-over, the rest of the scenario, and
// whether anything differs from the run that nobody killed.

#include <map>
#include <string>
#include <vector>

#include "tests/crash/kill_plan.h"

namespace belay::crash {

struct Verdict {
  std::vector<std::string> faults;      // empty: nothing was lost
  std::map<Moment, std::size_t> kills;  // that hit a living process
};

// In a folder that does not exist yet; it is left as it is at the end.
Verdict run_case(const Baseline& baseline, const Fate& fate, const std::string& folder);

}  // namespace belay::crash
