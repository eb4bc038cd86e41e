#pragma once
// cli/run_input.h - parses the input of a run: name=value, @file.json, - for standard input.

#include <string>
#include <string_view>
#include <vector>

#include "belay/graph.h"

namespace belay::cli {

// Combines all `pieces` into one JSON object and checks it against the graph's state; a later piece
// overrides an earlier one. The value of a pair is a text if the member is a text, otherwise JSON.
//
// Fails with `invalid`, with the member's path, if the state has no such member; also if a file
// cannot be read. `option` is the option that the pieces belong to.
Result<Value> read_run_input(const GraphDefinition& graph, const std::vector<std::string>& pieces,
                             std::string_view option = "--input");

}  // namespace belay::cli
