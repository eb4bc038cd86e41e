#include "tests/simulation/run_observations.h"

namespace belay::simulation {

RunObservations::Stay RunObservations::enter(ProcessId process, const std::string& thread,
                                             RunState doing) {
  std::shared_ptr<Seen>& seen = runs_[thread];
  if (!seen) seen = std::make_shared<Seen>();
  int& count = seen->doing[{process, doing}];
  ++count;
  ++*version_;
  return Stay(&count, [kept = seen, version = version_](int* left) {
    --*left;
    ++*version;
  });
}

void RunObservations::committed(ProcessId process, const RunRow& row) {
  std::shared_ptr<Seen>& seen = runs_[row.thread.text];
  if (!seen) seen = std::make_shared<Seen>();
  ++*version_;
  seen->status = row.status;
  seen->sleeps = row.due_at != Instant() && row.reason != "approval";
  seen->holder = row.status == RunStatus::running ? process : kOutside;
}

RunState RunObservations::state_of(const Seen& seen) const {
  if (seen.status == RunStatus::queued) return RunState::queued;
  if (seen.status != RunStatus::running) {
    return seen.sleeps ? RunState::sleeping : RunState::asking;
  }
  for (RunState doing : {RunState::committing, RunState::calling, RunState::thinking}) {
    auto count = seen.doing.find({seen.holder, doing});
    if (count != seen.doing.end() && count->second > 0) return doing;
  }
  return RunState::working;
}

std::vector<RunObservations::Sight> RunObservations::all() const {
  std::vector<Sight> sights;
  for (const auto& [thread, seen] : runs_) {
    if (is_final(seen->status)) continue;
    sights.push_back({thread, state_of(*seen), seen->holder});
  }
  return sights;
}

}  // namespace belay::simulation
