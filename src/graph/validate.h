#pragma once
// graph/validate.h - checks the declaration of a graph and reports all its faults together.

#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

// Returns one sentence for each fault, with the node and a remedy; empty for a valid graph. Checks
// the nodes, their targets and the entries. Requires that edges and branches are already assigned
// to their nodes (finish_graph() in graph.cc).
std::vector<std::string> faults_of(const GraphDefinition& graph);

}  // namespace belay
