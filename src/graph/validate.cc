#include "graph/validate.h"

#include <set>

#include "belay/limits.h"

namespace belay {
namespace {

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// All nodes that can come next after `node`.
std::vector<std::string> ways_on(const GraphDefinition::Node& node) {
  if (!node.approval) return node.targets;
  return {node.approval->approved, node.approval->rejected};
}

void check_names(const GraphDefinition& graph, std::vector<std::string>& faults) {
  std::set<std::string_view> seen;
  if (auto sound = check_name("graph's name", graph.name); !sound.ok()) {
    faults.push_back(sound.error().message);
  }
  if (graph.nodes.size() > limits::graph_nodes_max) {
    faults.push_back("It has more than " + std::to_string(limits::graph_nodes_max) + " nodes.");
  }
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.name == start || node.name == end) {
      faults.push_back("A node is called " + quoted(node.name) +
                       ", which names the graph's own beginning and end; call it otherwise.");
    } else if (auto sound = check_name("name of a node", node.name); !sound.ok()) {
      faults.push_back(sound.error().message);
    }
    if (!seen.insert(node.name).second) {
      faults.push_back("Two nodes are called " + quoted(node.name) + "; give one another name.");
    }
  }
}

void check_policies(const GraphDefinition& graph, std::vector<std::string>& faults) {
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.retry.attempts < 1) {
      faults.push_back("The node " + quoted(node.name) + " has " +
                       std::to_string(node.retry.attempts) +
                       " attempts; the first one counts, so write 1 or more.");
    }
    if (node.retry.base.count() < 0 || node.retry.cap.count() < 0) {
      faults.push_back("The node " + quoted(node.name) +
                       " waits a negative time between attempts; write zero or more.");
    }
    if (node.timeout && node.timeout->count() <= 0) {
      faults.push_back("The node " + quoted(node.name) +
                       " has no time to run; write a timeout above zero, or none.");
    }
    if (node.approval && node.approval->options.expires.count() <= 0) {
      faults.push_back("The approval " + quoted(node.name) +
                       " expires at once; write a time above zero.");
    }
  }
}

void check_targets(const GraphDefinition& graph, std::vector<std::string>& faults) {
  auto known = [&](const std::string& name) { return name == end || graph.find(name); };
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.approval) {
      if (node.approval->approved.empty()) {
        faults.push_back("The approval " + quoted(node.name) +
                         " does not say where to go; write .approved(\"...\").");
      }
      if (node.approval->rejected.empty()) {
        faults.push_back("The approval " + quoted(node.name) +
                         " does not say where to go; write .rejected(\"...\").");
      }
    } else if (node.targets.empty()) {
      faults.push_back("Nothing comes after the node " + quoted(node.name) + "; write .edge(" +
                       quoted(node.name) + ", end) if it is the last.");
    }
    for (const std::string& target : ways_on(node)) {
      if (!target.empty() && !known(target)) {
        faults.push_back("The node " + quoted(node.name) + " leads to " + quoted(target) +
                         ", which does not exist; add that node or correct the name.");
      }
    }
  }
  if (graph.entry.empty()) {
    faults.push_back("It has no beginning; write .edge(start, \"...\").");
  } else if (graph.entry == end) {
    faults.push_back("It begins with its end; write .edge(start, \"...\") with a node's name.");
  } else if (!graph.find(graph.entry)) {
    faults.push_back("It begins with " + quoted(graph.entry) +
                     ", which does not exist; add that node or correct the name.");
  }
}

std::set<std::string> reachable_from(const GraphDefinition& graph, const std::string& entry) {
  std::set<std::string> reached;
  std::vector<std::string> open{entry};
  while (!open.empty()) {
    std::string name = std::move(open.back());
    open.pop_back();
    const GraphDefinition::Node* node = graph.find(name);
    if (!node || !reached.insert(name).second) continue;
    for (std::string& target : ways_on(*node)) open.push_back(std::move(target));
  }
  return reached;
}

// The nodes from which the end can be reached.
std::set<std::string> leading_to_end(const GraphDefinition& graph) {
  std::set<std::string> leading{std::string(end)};
  for (bool changed = true; changed;) {
    changed = false;
    for (const GraphDefinition::Node& node : graph.nodes) {
      if (leading.contains(node.name)) continue;
      for (const std::string& target : ways_on(node)) {
        if (!leading.contains(target)) continue;
        leading.insert(node.name);
        changed = true;
        break;
      }
    }
  }
  return leading;
}

}  // namespace

std::vector<std::string> faults_of(const GraphDefinition& graph) {
  std::vector<std::string> faults;
  check_names(graph, faults);
  check_policies(graph, faults);
  check_targets(graph, faults);
  // Ways are judged only where the names are sound: otherwise each fault would be told twice.
  if (!faults.empty()) return faults;
  std::set<std::string> reached = reachable_from(graph, graph.entry);
  std::set<std::string> leading = leading_to_end(graph);
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!reached.contains(node.name)) {
      faults.push_back("No way leads to the node " + quoted(node.name) +
                       "; add an edge to it or remove it.");
    } else if (!leading.contains(node.name)) {
      faults.push_back("From the node " + quoted(node.name) +
                       " no way leads to the end; add an edge out of the cycle.");
    }
  }
  return faults;
}

}  // namespace belay
