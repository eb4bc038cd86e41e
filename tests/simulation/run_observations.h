#pragma once
// tests/simulation/run_observations.h - the current state of each run, observed in all processes.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/rows.h"
#include "tests/simulation/event_log.h"

namespace belay::simulation {

class RunObservations {
 public:
  // Marks that the process does this for the thread's run, while the returned object exists.
  using Stay = std::shared_ptr<void>;
  Stay enter(ProcessId process, const std::string& thread, RunState doing);
  // Records the row that a process's commit has made durable.
  void committed(ProcessId process, const RunRow& row);
  struct Sight {
    std::string thread;
    RunState state;
    ProcessId holder;  // kOutside: no process executes it
  };
  // Returns the states of all runs that have not ended.
  std::vector<Sight> all() const;
  // Increases whenever the state of a run might have changed.
  std::uint64_t version() const { return *version_; }

 private:
  struct Seen {
    RunStatus status = RunStatus::queued;
    bool sleeps = false;
    ProcessId holder = kOutside;
    std::map<std::pair<ProcessId, RunState>, int> doing;
  };
  RunState state_of(const Seen& seen) const;

  std::map<std::string, std::shared_ptr<Seen>> runs_;
  std::shared_ptr<std::uint64_t> version_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace belay::simulation
