#pragma once
// langgraph/runs.h - begins runs of the Agent Server API.
//
// A run of the protocol is the start of a run of the service, or it continues the run at which the
// thread waits: with the decisions of `command.resume`, or, without an input, past a breakpoint.
// A thread that waits for a person is busy for a start: with multitask_strategy reject, it is
// refused, so that no open interrupt is lost by accident. A request that is sent again with the
// same Idempotency-Key begins nothing: it returns the run of the first.
//
// Threading: on the executor that awaits.

#include "langgraph/run_body.h"
#include "langgraph/run_stream.h"

namespace belay::langgraph {

struct BegunRun {
  ProtocolRun run;
  RunBody body;
};

// Checks all of the request and begins the run; returns when it is durable. Without `thread`: on a
// new thread. `conflict` for a busy thread, and for a resume that matches no open interrupt.
Task<Result<BegunRun>> begin_protocol_run(AgentServer& served, server::Call& call,
                                          std::optional<ThreadId> thread);
// The same from the checkpoint that the body names, also if it is the newest one: a run that waits
// there is cancelled, and not continued.
Task<Result<BegunRun>> begin_protocol_fork(AgentServer& served, server::Call& call,
                                           ThreadId thread);
// The same checks, except those that depend on a thread.
Task<Result<Done>> check_protocol_run(AgentServer& served, server::Call& call);

// Replaces the Idempotency-Key of a request for several runs: each of them has another one.
void replace_key(server::Call& call, std::string key);

// The run as the response to its request follows it.
FollowedRun followed(BegunRun begun);

// The path of the run: /threads/{threadId}/runs/{runId}, or /runs/{runId} without a thread.
std::string run_path(const RunRecord& record);

}  // namespace belay::langgraph
