#pragma once
// tests/simulation/plan.h - the plan of a simulation, read from a file
//
//     about = "Workers die while parcels are packed."
//     workers = 3
//     runs = 24            # started during the first phase
//     seconds = 240        # the length of the first phase, in simulated time
//     [workloads]          # relative frequencies
//     parcel = 2
//     errand = 1
//     [people]             # how often in the first phase
//     cancels = 2
//     forks = 2
//     schedules = 3        # with runs of errands and letters
//     messages = 20        # to runs of goals
//     [protocol]           # clients of the Agent Server API, instead of people
//     threads = 44         # each with its runs, of the same workloads
//     thread_cancels = 3
//     copies = 3
//     deletions = 3
//     [faults]             # how often each one occurs in the first phase
//     kill_worker = 3
//     power_cut = 1
//     [chances]            # in 10,000 calls
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
  int schedules = 0;
  int messages = 0;
  int threads = 0;
  int thread_cancels = 0;
  int copies = 0;
  int deletions = 0;
  std::map<FaultKind, int> faults;
  Chances chances;
  // Makes syncs do nothing: a fault that violates Belay's guarantees, for the test that the
  // simulation detects it.
  bool disk_lies = false;
  // The same, for the checks of the clients of the Agent Server API.
  bool loses_run_records = false;

  // True with goals, schedules, messages or clients.
  bool has_service() const {
    return schedules > 0 || messages > 0 || threads > 0 || workloads.contains("goal");
  }
};

// The collections in which the processes of the plan save records.
std::vector<std::string> collections_of(const Plan& plan);

// Fails with `invalid` and the unknown word or the missing setting if the file is not a valid plan.
Result<Plan> read_plan(const std::string& path);

}  // namespace belay::simulation
