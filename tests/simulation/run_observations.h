#pragma once
// tests/simulation/run_observations.h - how each run stands, as one sees who looks at everything at
// once.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/rows.h"
#include "tests/simulation/event_log.h"

namespace belay::simulation {

class RunObservations {
 public:
  // While it lives, its process does that for the thread's run.
  using Stay = std::shared_ptr<void>;
  Stay enter(ProcessId process, const std::string& thread, RunState doing);
  // The row that a process's commit has made durable.
  void committed(ProcessId process, const RunRow& row);
  struct Sight {
    std::string thread;
    RunState state;
    ProcessId holder;  // kOutside: nobody works on it
  };
  // Of all runs that have not ended.
  std::vector<Sight> all() const;
  // Grows whenever one may stand otherwise.
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
