#include "server/component_names.h"

#include <map>
#include <set>

namespace belay::server {
namespace {

// The part of a name that can be in the name of a component.
std::string component_part(std::string_view name) {
  std::string part(name);
  for (char& c : part) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_letter && c != '-' && c != '.') c = '_';
  }
  return part;
}

// Returns `name`, with a number if it is taken; takes it.
std::string taken_name(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

// `nodes`: by name. The node is null for a name that several nodes with approvals have.
void collect_approvals(const GraphDefinition& graph, std::map<std::string, NamedApproval>& nodes) {
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.subgraph) collect_approvals(*node.subgraph->graph, nodes);
    if (!node.approval) continue;
    auto [found, is_new] = nodes.emplace(node.name, NamedApproval{&graph, &node, {}});
    if (!is_new && found->second.node != &node) found->second.node = nullptr;
  }
}

}  // namespace

std::vector<NamedGraph> named_graphs(const ProgramTypes& types) {
  std::vector<NamedGraph> named;
  std::set<std::string> names, parts, approval_parts;
  for (const auto& graph : types.graphs) {
    if (!names.insert(graph->name).second) continue;
    NamedGraph& added = named.emplace_back();
    added.graph = graph.get();
    added.part = taken_name(component_part(graph->name), parts);
    std::map<std::string, NamedApproval> nodes;
    collect_approvals(*graph, nodes);
    for (auto& [name, approval] : nodes) {
      if (!approval.node) continue;
      approval.part = taken_name(added.part + "_" + component_part(name), approval_parts);
      added.approvals.push_back(std::move(approval));
    }
  }
  return named;
}

std::vector<NamedRecords> named_records(const ProgramTypes& types) {
  std::vector<NamedRecords> named;
  std::set<std::string> parts;
  for (const RecordCollection& each : types.collections) {
    if (each.schema.is_null()) continue;
    named.push_back({&each, taken_name(component_part(each.name), parts)});
  }
  return named;
}

}  // namespace belay::server
