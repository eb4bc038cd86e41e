#pragma once
// graph/validate.h - the faults of a graph as declared, all at once.

#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

// One sentence a fault, each naming the node and what to write instead; empty for a sound graph.
// Looks at the nodes, their targets and the entry; the ways have been connected by then.
std::vector<std::string> faults_of(const GraphDefinition& graph);

}  // namespace belay
