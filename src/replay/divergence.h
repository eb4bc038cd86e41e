#pragma once
// replay/divergence.h - finds the node of a superstep that caused a divergence of a replay.

#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay {

// Returns the first node whose writes differ; empty if none does. `nodes`: those of the superstep's
// tasks, by position.
std::string node_with_different_writes(const std::vector<std::string>& nodes,
                                       const std::vector<ValueRow>& recorded,
                                       const std::vector<ValueRow>& replayed);
// Compares the texts of the next tasks. Returns the only node that can have selected the differing
// targets; empty if there is no such node, or more than one.
std::string node_with_different_targets(const GraphDefinition& graph,
                                        const std::vector<std::string>& nodes,
                                        const std::string& recorded, const std::string& replayed);

}  // namespace belay
