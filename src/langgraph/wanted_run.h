#pragma once
// langgraph/wanted_run.h - a request that begins a run of the protocol, and the starts of runs.
//
// Threading: on the executor that awaits.

#include "langgraph/assistants.h"
#include "langgraph/run_body.h"
#include "langgraph/run_records.h"

namespace belay::langgraph {

// A request, after all checks that need no thread.
struct WantedRun {
  RunBody body;
  Assistant assistant;
  Value agent;  // its document
  std::optional<ThreadView> thread;
  bool is_stateless = false;
  bool forks = false;             // begins at the named checkpoint, also at the newest one
  std::string continuing_id;      // of the run, if it continues another
  ThreadId new_thread;            // of a run without one; empty: of its key
  std::optional<RunCommit> from;  // an earlier checkpoint to begin from
  bool was_started = false;       // before this request, the run of its key existed
  // The thread was changed or deleted since it was read, and nothing was started.
  bool is_outdated = false;
  bool has_started = false;  // this resume has started a run at `from`
  // The record of the same request, sent before: it was saved, and not all was done.
  std::optional<RunRecord> unbegun;
};

RunRecord record_of_wanted(const AgentServer& served, const WantedRun& wanted, const RunRow& row);
// Starts a run of the service; returns when it is durable. Sets `is_outdated`.
Task<Result<RunView>> started_run(AgentServer& served, server::Call& call, WantedRun& wanted);

}  // namespace belay::langgraph
