#pragma once
// langgraph/run_changes.h - cancels and deletes runs of the Agent Server API.
//
// The service deletes whole threads only. A run is therefore deleted with the runs of its thread,
// if it is the thread's only run of the service; the thread stays, without a run. `conflict` for
// another run, before anything is changed.
//
// Threading: on the executor that awaits.

#include "langgraph/run_records.h"

namespace belay::langgraph {

// Cancels the run; one that has ended stays as it ended. `rolls_back`: deletes it as well.
Task<Result<Done>> cancel_run(AgentServer& served, const server::Call& call, ProtocolRun run,
                              bool rolls_back);
// `conflict` if the thread of the run has other runs of the service.
Task<Result<Done>> check_only_run(const server::Call& call, const ProtocolRun& run);
// Deletes a run, which must have ended.
Task<Result<Done>> delete_run(AgentServer& served, const server::Call& call, ProtocolRun run);
// Deletes the runs of a thread before its newest one, which keeps its history. Values of the state
// that they have written remain as long as it needs them. All runs must have ended.
Task<Result<Done>> delete_earlier_runs(const server::Call& call, ThreadView view);

}  // namespace belay::langgraph
