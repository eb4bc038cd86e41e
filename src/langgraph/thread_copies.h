#pragma once
// langgraph/thread_copies.h - copies of threads.
//
// A copy has the metadata, the configuration and the expiry of its thread, and a copy of the
// current run.
//
// Threading: on the executor that awaits.

#include "langgraph/threads.h"

namespace belay::langgraph {

// POST /threads/{threadId}/copy. 409: no such thread. The same request with the same
// Idempotency-Key makes one copy.
Task<Result<server::Reply>> copy_thread(AgentServer& served, server::Call call);

}  // namespace belay::langgraph
