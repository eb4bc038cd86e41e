#pragma once
// engine/route.h - where a step leads. Calls the graph's own functions: what they throw becomes an
// Error of code `invalid`.

#include <string>

#include "engine/run.h"

namespace belay::engine {

// The target that an edge or branch of `node` gives for this state.
Result<std::string> chosen_target(const GraphDefinition::Node& node, const void* state);

// `target`, or what comes after it when it is an approval that need not ask.
Result<std::string> past_approvals(const GraphDefinition& graph, const RunOptions& options,
                                   const void* state, std::string target);

}  // namespace belay::engine
