#pragma once
// driver/divergence.h - which of the nodes of one superstep it was that did something else than
// is recorded.

#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay {

// `nodes`: of the superstep's tasks, by position. Empty where it can't be told.
std::string node_with_different_writes(const std::vector<std::string>& nodes,
                                       const std::vector<ValueRow>& recorded,
                                       const std::vector<ValueRow>& replayed);
// By the texts of the next tasks: the only node that may choose to go to what differs.
std::string node_with_different_targets(const GraphDefinition& graph,
                                        const std::vector<std::string>& nodes,
                                        const std::string& recorded, const std::string& replayed);

}  // namespace belay
