#pragma once
// tests/conformance/graphs/truncate_route.h - POST /internal/truncate, which empties the store
// between two tests of a suite.
//
// It cancels and deletes every thread of the tenant, and deletes the records of the collections.
// Needs `administer`. If it is stopped, some of that is deleted; a repeated call continues.

#include <string>
#include <vector>

#include "belay/route.h"

namespace belay::conformance {

// The members of the body select: `runs`, `threads` and `checkpointer` the threads; `runs` also the
// crons with their schedules; `threads` also
// the collections that begin with "langgraph_thread", `assistants` those with "langgraph_assistant"
// and `store` those with "langgraph_store", of the caller and of the users of deleted threads.
ModuleRoute truncate_route(std::vector<std::string> collections);

}  // namespace belay::conformance
