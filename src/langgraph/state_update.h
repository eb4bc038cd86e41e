#pragma once
// langgraph/state_update.h - changes of a thread's state by a client.
//
// A change is the first commit of another run (StartOptions::edit), which executes no node: it
// waits before the nodes that follow, as `next` of the state shows, until a run without an input
// continues it. Nodes that are approvals are requested with the changed values.
//
// Threading: on the executor that awaits.

#include "langgraph/errors.h"
#include "langgraph/state_change.h"
#include "langgraph/threads.h"

namespace belay::langgraph {

// POST /threads/{threadId}/state. 404: no such thread; 409: a run of it is pending or running, or
// its nodes have started effects; 400: it has no graph; 403: a node would skip an approval.
Task<Result<server::Reply>> update_state(AgentServer& served, server::Call call);

// The updates of the member `supersteps` of the creation of a thread, in their order; none without
// it. `invalid` if a superstep has several updates.
Result<std::vector<StateChange>> superstep_updates_in(const Value& body);
// True if the thread of a creation with this number of updates has no run, or only some
// of them: a crash can have ended the creation there.
bool has_updates_left(const server::Call& call, const ThreadView& thread, std::size_t count);

struct CreatedThread {
  ThreadId id;
  std::string graph;
  // The Idempotency-Key is that of the thread, for all of its creations: where one has other
  // updates than the first, the thread has those of the first.
  bool has_own_key = false;
};
// Makes the changes on the thread; the first one creates its first run. Those that the thread has
// are not made again. REQUIRES: the request has an Idempotency-Key.
Task<Result<Done>> apply_updates(AgentServer& served, server::Call& call, CreatedThread thread,
                                 std::vector<StateChange> updates);

}  // namespace belay::langgraph
