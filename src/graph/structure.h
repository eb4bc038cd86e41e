#pragma once
// graph/structure.h - the structure of a graph as text: what its hash covers.
//
// The hash is stored with each run: a run continues if a graph has the same one. Policies (retries,
// timeouts, expiries) and texts for persons are not part of it: they can change while runs wait.
// The text must not change: stored runs would belong to an unknown version.

#include <map>
#include <string>
#include <vector>

#include "belay/graph.h"

namespace belay {

// One line per channel, node, join, and for the entries; channels are ordered by name.
std::vector<std::string> structure_of(const GraphDefinition& graph);

// The text that the hash is computed of.
std::string joined(const std::vector<std::string>& structure);

// The materials of the graph and, behind the name of their node, of its subgraphs: "ask/prompt".
std::map<std::string, std::string> materials_of(const GraphDefinition& graph);

// The policies as text: of each node its retries, timeout and expiry, then those of its subgraph.
std::string policies_of(const GraphDefinition& graph);

// The hash of former programs, which covered the policies and the order of the channels.
Digest former_hash_of(const GraphDefinition& graph);

// Returns the same graph with its former hash as its version: it continues runs of former programs,
// whose rows keep that version.
std::shared_ptr<const GraphDefinition> former_edition(const GraphDefinition& graph);

}  // namespace belay
