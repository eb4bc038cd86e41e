#pragma once
// langgraph/thread_search.h - the threads of the caller's user that a search selects.
//
// Threading: on the executor that awaits.

#include "langgraph/search.h"
#include "langgraph/threads.h"

namespace belay::langgraph {

// Returns the threads that match the members `metadata`, `values`, `status` and `ids` of a body, in
// no order: threads of the service and records of threads without a run. `exhausted` if the user
// has more than kSearchedMax (records.h), or too many states would have to be compared with
// `values`.
Task<Result<std::vector<ThreadView>>> matching_threads(AgentServer& served,
                                                       const server::Call& call);

// Sorts them as the page asks.
void sort_threads(std::vector<ThreadView>& threads, const SearchPage& page);

// The document of a thread with the state of its current run, which is read only if the page
// selects a member that needs it.
Task<Result<Value>> document_with_state(AgentServer& served, const server::Call& call,
                                        ThreadView thread, SearchPage page);

}  // namespace belay::langgraph
