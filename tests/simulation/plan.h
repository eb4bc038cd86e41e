#pragma once
// tests/simulation/plan.h - what is played in a simulation, as a file tells it.
//
//     about = "Workers die while parcels are packed."
//     workers = 3
//     runs = 24            # begun over the first phase
//     seconds = 240        # how long the first phase lasts, in simulated time
//     [workloads]          # how often each, of all
//     parcel = 2
//     errand = 1
//     [people]             # how often in the first phase
//     cancels = 2
//     forks = 2
//     [faults]             # how often each strikes in the first phase
//     kill_worker = 3
//     power_cut = 1
//     [chances]            # of 10,000 calls
//     call_lost = 200

#include <chrono>
#include <map>
#include <string>

#include "tests/simulation/external_world.h"

namespace belay::simulation {

struct Plan {
  std::string name;  // of its file
  std::string about;
  int workers = 3;
  int runs = 24;
  std::chrono::seconds length{240};
  std::map<std::string, int> workloads;
  int cancels = 0;
  int forks = 0;
  std::map<FaultKind, int> faults;
  Chances chances;
  // A fault that no promise stands against, for the test that it is found: syncs do nothing.
  bool disk_lies = false;
};

// `invalid` for what is no plan: the word that is unknown, or what is missing.
Result<Plan> read_plan(const std::string& path);

}  // namespace belay::simulation
