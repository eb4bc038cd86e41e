#pragma once
// langgraph/state_update.h - the change of a thread's state by a client, which is refused.
//
// Each state of a thread is the result of a run: its history is a chain of commits that a replay
// can repeat, and an approval covers the values that its person has seen. The service therefore has
// no change of a state in place. Its clients start a run, whose input changes the state as the
// channels define, or fork the thread with edits (docs/time-travel.md): a fork is a new thread,
// and repeats the approvals that showed an edited value.
//
// Threading: on the executor that awaits.

#include "langgraph/errors.h"

namespace belay::langgraph {

// POST /threads/{threadId}/state. 404: no such thread; 409: a run of it is pending or running; 400:
// it has no graph; otherwise 422, which names the two alternatives.
Task<Result<server::Reply>> update_state(AgentServer& served, server::Call call);

}  // namespace belay::langgraph
