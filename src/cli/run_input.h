#pragma once
// cli/run_input.h - a run's input as people type it: name=value, @file.json, - for standard input.

#include <string>
#include <string_view>
#include <vector>

#include "belay/graph.h"

namespace belay::cli {

// One JSON object of all `pieces`, fit for the graph's state; a later piece wins over an earlier
// one. The value of a pair is taken as text where the member holds text, else as JSON.
//
// `invalid`, naming the member's path, for what the state has no place for; and for files that
// can't be read. `option` is the flag that they came with.
Result<Value> read_run_input(const GraphDefinition& graph, const std::vector<std::string>& pieces,
                             std::string_view option = "--input");

}  // namespace belay::cli
