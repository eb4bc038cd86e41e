#pragma once
// tests/crash/killed_case.h - one case: a kill, the takeover, and the rest of the scenario
//
// The resulting store must not differ from that of the run without a kill.

#include <map>
#include <string>
#include <vector>

#include "tests/crash/kill_plan.h"

namespace belay::crash {

struct Verdict {
  std::vector<std::string> faults;      // empty: no loss
  std::map<Moment, std::size_t> kills;  // that hit a live process
};

// Runs a case in `folder`, which must not exist yet and is not removed at the end.
Verdict run_case(const Baseline& baseline, const Fate& fate, const std::string& folder);

}  // namespace belay::crash
