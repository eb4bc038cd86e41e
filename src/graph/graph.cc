#include "belay/graph.h"

#include <algorithm>

#include "graph/question.h"
#include "graph/structure.h"
#include "graph/validate.h"

namespace belay {
namespace {

void begin_with(GraphDefinition& graph, EdgeDeclaration& way, std::vector<std::string>& faults) {
  if (way.choose) {
    faults.push_back(
        "A branch cannot start at the start of the graph. Write .edge(start, \"...\") to a node, "
        "and branch there.");
    return;
  }
  for (std::string& target : way.targets) graph.entries.push_back(std::move(target));
}

// Adds an edge or a branch to its source node. A node can have several edges, or one branch.
void lead_on(GraphDefinition::Node& node, EdgeDeclaration& way, std::vector<std::string>& faults) {
  std::string from = "\"" + way.from + "\"";
  if (node.approval) {
    faults.push_back("An edge starts at approval " + from +
                     ". Write .approved(\"...\") and .rejected(\"...\") instead.");
  } else if (node.choose || (way.choose && !node.targets.empty())) {
    faults.push_back("A branch and another edge start at " + from + ". Write one branch instead.");
  } else if (way.targets.empty()) {
    faults.push_back("The branch at " + from +
                     " has no targets. Name all targets that it can select.");
  } else {
    for (std::string& target : way.targets) {
      if (!way.choose &&
          std::find(node.targets.begin(), node.targets.end(), target) != node.targets.end()) {
        faults.push_back("Two edges lead from " + from + " to \"" + target + "\". Write one.");
        continue;
      }
      node.targets.push_back(std::move(target));
    }
    node.choose = std::move(way.choose);
  }
}

// Adds each declared edge and branch to its source node. Returns the faults that are visible only
// in the declarations.
std::vector<std::string> connect(GraphDefinition& graph, std::vector<EdgeDeclaration> ways) {
  std::vector<std::string> faults;
  for (EdgeDeclaration& way : ways) {
    if (way.from == start) {
      begin_with(graph, way, faults);
      continue;
    }
    auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                             [&](const auto& each) { return each.name == way.from; });
    if (node == graph.nodes.end()) {
      faults.push_back("An edge starts at \"" + way.from +
                       "\", which does not exist. Add that node or correct the name.");
    } else {
      lead_on(*node, way, faults);
    }
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].index = i;
  return faults;
}

}  // namespace

const GraphDefinition::Node* GraphDefinition::find(std::string_view node) const {
  for (const Node& each : nodes) {
    if (each.name == node) return &each;
  }
  return nullptr;
}

Result<std::shared_ptr<const GraphDefinition>> finish_graph(GraphDefinition definition,
                                                            std::vector<EdgeDeclaration> edges,
                                                            std::vector<std::string> faults) {
  for (std::string& fault : connect(definition, std::move(edges)))
    faults.push_back(std::move(fault));
  for (std::string& fault : faults_of(definition)) faults.push_back(std::move(fault));
  if (faults.empty()) {
    definition.hash = sha256(joined(structure_of(definition)));
    definition.former_hash = former_hash_of(definition);
    return std::make_shared<const GraphDefinition>(std::move(definition));
  }
  std::string message = "The graph \"" + definition.name + "\" cannot be built.";
  for (std::size_t i = 0; i < faults.size(); ++i) {
    message += " (" + std::to_string(i + 1) + ") " + faults[i];
  }
  return error(ErrorCode::invalid, std::move(message));
}

std::string question_key(std::string_view name, std::string_view payload_json) {
  return std::string(name) + " " + to_hex(sha256(payload_json));
}

}  // namespace belay
