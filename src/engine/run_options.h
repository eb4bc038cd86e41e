#pragma once
// engine/run_options.h - the options of a run: which ones its graph allows, and how they are stored

#include <string>
#include <string_view>

#include "engine/run.h"

namespace belay::engine {

// Returns the options that a run of the graph can have. Commits of a subgraph name the outer task,
// which an outer commit must have scheduled. Therefore a graph with subgraphs cannot defer its
// commits: Durability::exit becomes sync.
RunOptions options_for(const GraphDefinition& graph, RunOptions options);

// `invalid`, naming it, if they name a node that the graph does not have.
Result<Done> check_breakpoints(const GraphDefinition& graph, const Breakpoints& breakpoints);

// The stored text of options, as in RunRow::options, and back. `invalid` if the text is not such a
// text.
std::string options_text(const RunOptions& options);
Result<RunOptions> options_from(std::string_view text);

}  // namespace belay::engine
