#pragma once
// server/component_names.h - the parts of a program that the description has types for, with the
// ends of the names of their components: "AgentInput_letters".

#include <string>
#include <vector>

#include "server/program_types.h"

namespace belay::server {

// An approval of a graph, or of a graph within it.
struct NamedApproval {
  const GraphDefinition* graph;
  const GraphDefinition::Node* node;
  std::string part;
};

struct NamedGraph {
  const GraphDefinition* graph;
  std::string part;
  std::vector<NamedApproval> approvals;  // without those of several nodes with one name
};

// The graphs that a start by name selects. `types` must outlive them.
std::vector<NamedGraph> named_graphs(const ProgramTypes& types);

struct NamedRecords {
  const RecordCollection* collection;
  std::string part;
};

// The collections whose records have a schema. `types` must outlive them.
std::vector<NamedRecords> named_records(const ProgramTypes& types);

}  // namespace belay::server
