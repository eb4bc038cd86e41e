#include "graph/validate.h"

#include <algorithm>
#include <set>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "graph/bill_of_materials.h"

namespace belay {
namespace {

// Returns all nodes that can be scheduled after `node`.
std::vector<std::string> ways_on(const GraphDefinition& graph, const GraphDefinition::Node& node) {
  if (node.approval) return targets_of(*node.approval);
  std::vector<std::string> ways = node.targets;
  ways.insert(ways.end(), node.destinations.begin(), node.destinations.end());
  for (const GraphDefinition::Join& join : graph.joins) {
    if (std::find(join.from.begin(), join.from.end(), node.name) != join.from.end()) {
      ways.push_back(join.to);
    }
  }
  return ways;
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
      faults.push_back(
          "A node is named " + in_quotes(node.name) +
          ", which is reserved for the start and end of the graph. Choose another name.");
    } else if (auto sound = check_name("name of a node", node.name); !sound.ok()) {
      faults.push_back(sound.error().message);
    }
    if (!seen.insert(node.name).second) {
      faults.push_back("Two nodes are named " + in_quotes(node.name) + ". Rename one of them.");
    }
  }
}

void check_material_rules(const GraphDefinition& graph, std::vector<std::string>& faults) {
  for (const auto& [group, rule] : graph.material_rules) {
    if (!is_material_group(group)) {
      faults.push_back("No group of materials is named " + in_quotes(group) +
                       ". Write \"agent\", \"model\", \"policy\", \"prompts\" or \"tools\".");
    } else if (rule == MaterialChange::migrate && !graph.migrate_materials) {
      faults.push_back("The rule for changed " + group +
                       " is to migrate, without a migration. Use migrate_materials().");
    }
  }
}

// Returns why the value cannot be saved; empty if it can.
std::string saving_problem(const Value& value) {
  Encoder text;
  text.write_value(value);
  return std::move(text.problem);
}

void check_expiry_message(const std::string& node, const ExpiryMessage& message,
                          std::vector<std::string>& faults) {
  if (message.topic.empty()) {
    faults.push_back("The expiry message of the approval " + in_quotes(node) +
                     " has no topic. Write the topic of its receiver.");
  }
  if (std::string problem = saving_problem(message.data); !problem.empty()) {
    faults.push_back("The expiry message of the approval " + in_quotes(node) +
                     " cannot be saved: " + problem);
  }
}

void check_policies(const GraphDefinition& graph, std::vector<std::string>& faults) {
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.retry.attempts < 1) {
      faults.push_back("The node " + in_quotes(node.name) + " has " +
                       std::to_string(node.retry.attempts) +
                       " attempts. The first attempt counts: write 1 or more.");
    }
    if (node.retry.base.count() < 0 || node.retry.cap.count() < 0) {
      faults.push_back("The node " + in_quotes(node.name) +
                       " has a negative backoff. Write zero or more.");
    }
    if (node.timeout && node.timeout->count() <= 0) {
      faults.push_back("The node " + in_quotes(node.name) +
                       " has a timeout that is not above zero. Write a positive timeout, or none.");
    }
    for (const std::string& dependency : node.depends_on) {
      if (dependency.empty()) {
        faults.push_back("The node " + in_quotes(node.name) +
                         " depends on something without a name. Write .depends_on(\"smtp\").");
      } else if (dependency == "model") {
        faults.push_back(
            "The node " + in_quotes(node.name) +
            " declares the dependency \"model\", which Belay protects for each call. Remove it.");
      }
    }
    if (node.approval && node.approval->options.expires.count() <= 0) {
      faults.push_back("The approval " + in_quotes(node.name) +
                       " expires immediately. Write a time above zero.");
    }
    if (node.approval && node.approval->options.on_expiry) {
      check_expiry_message(node.name, *node.approval->options.on_expiry, faults);
    }
  }
}

void check_choices(const std::string& node, const GraphDefinition::Approval& approval,
                   std::vector<std::string>& faults) {
  std::string name = "The approval " + in_quotes(node);
  std::set<std::string_view> seen;
  for (const auto& choice : approval.choices) {
    auto sound = check_name("name of a choice", choice.name);
    if (!sound.ok()) faults.push_back(sound.error().message);
    if (std::string problem = saving_problem(Value(choice.label)); !problem.empty()) {
      faults.push_back(name + " has a label that cannot be saved: " + problem);
    }
    if (choice.name == "approve" || choice.name == "reject" || choice.name == "fail") {
      faults.push_back(name + " has the choice " + in_quotes(choice.name) +
                       ", which is a reserved name. Write .approved(), .rejected(), or another "
                       "name.");
    }
    if (!seen.insert(choice.name).second) {
      faults.push_back(name + " has the choice " + in_quotes(choice.name) +
                       " twice. Rename one of them.");
    }
  }
  // A skipped approval continues as if approved.
  if (approval.approved.empty() && approval.when && !approval.choices.empty()) {
    faults.push_back(name + " can be skipped, and has no target then. Write .approved(\"...\").");
  }
  const std::string& expired = approval.options.when_expired;
  bool can_expire = approval.options.expires != Expiry::never;
  bool is_plain = approval.choices.empty() && expired == "reject";
  if (can_expire && !is_plain && expired != "fail" && target_of(approval, expired).empty()) {
    faults.push_back(name + " has no target for its expiry: when_expired is " + in_quotes(expired) +
                     ". Write \"fail\" or one of its choices, or expires = Expiry::never.");
  }
  // Also with Expiry::never, because an option of the run can replace it.
  if (approval.read_answer && expired != "reject" && expired != "fail") {
    faults.push_back(name + " needs an answer, and its expiry has none: when_expired is " +
                     in_quotes(expired) + ". Write \"reject\" or \"fail\".");
  }
  if (approval.needs < 1) {
    faults.push_back(name + " needs " + std::to_string(approval.needs) +
                     " decisions. Write 1 or more.");
  }
  if (approval.needs > 1 && approval.read_answer) {
    faults.push_back(name + " needs several decisions and an answer. Write one of them.");
  }
}

void check_targets(const GraphDefinition& graph, std::vector<std::string>& faults) {
  auto known = [&](const std::string& name) { return name == end || graph.find(name); };
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (node.approval) {
      check_choices(node.name, *node.approval, faults);
      bool has_choices = !node.approval->choices.empty();
      if (node.approval->approved.empty() && !has_choices) {
        faults.push_back("The approval " + in_quotes(node.name) +
                         " has no target for approvals. Write .approved(\"...\").");
      }
      if (node.approval->rejected.empty() && !has_choices) {
        faults.push_back("The approval " + in_quotes(node.name) +
                         " has no target for rejections. Write .rejected(\"...\").");
      }
    } else if (ways_on(graph, node).empty()) {
      faults.push_back("No edge leaves the node " + in_quotes(node.name) + ". Write .edge(" +
                       in_quotes(node.name) + ", end) if it is the last.");
    }
    for (const std::string& target : ways_on(graph, node)) {
      if (!target.empty() && !known(target)) {
        faults.push_back("The node " + in_quotes(node.name) + " leads to " + in_quotes(target) +
                         ", which does not exist. Add that node or correct the name.");
      }
    }
  }
  if (graph.entries.empty()) faults.push_back("It has no start. Write .edge(start, \"...\").");
  for (const std::string& entry : graph.entries) {
    if (entry == end) {
      faults.push_back(
          "It starts at its end. Write .edge(start, \"...\") with the name of a node.");
    } else if (!graph.find(entry)) {
      faults.push_back("It starts at " + in_quotes(entry) +
                       ", which does not exist. Add that node or correct the name.");
    }
  }
}

void check_joins(const GraphDefinition& graph, std::vector<std::string>& faults) {
  for (const GraphDefinition::Join& join : graph.joins) {
    std::set<std::string> from(join.from.begin(), join.from.end());
    if (from.size() < 2 || from.size() != join.from.size()) {
      faults.push_back("The join into " + in_quotes(join.to) +
                       " requires two or more different nodes. Write an edge for one.");
    }
    if (join.to != end && !graph.find(join.to)) {
      faults.push_back("A join leads to " + in_quotes(join.to) +
                       ", which does not exist. Add that node or correct the name.");
    }
    for (const std::string& name : from) {
      const GraphDefinition::Node* node = graph.find(name);
      if (!node) {
        faults.push_back("The join into " + in_quotes(join.to) + " waits for " + in_quotes(name) +
                         ", which does not exist. Add that node or correct the name.");
      } else if (node->approval) {
        faults.push_back("The join into " + in_quotes(join.to) + " waits for the approval " +
                         in_quotes(name) + ". Join its target nodes instead.");
      }
    }
  }
}

void check_subgraphs(const GraphDefinition& graph, std::vector<std::string>& faults) {
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!node.subgraph) continue;
    if (node.retry.attempts > 1 || node.timeout || !node.depends_on.empty()) {
      faults.push_back("The subgraph " + in_quotes(node.name) +
                       " has a retry, a timeout or a dependency. Set them on its nodes instead.");
    }
    for (const GraphDefinition::Node& inner : node.subgraph->graph->nodes) {
      if (inner.interrupt_before || inner.interrupt_after) {
        faults.push_back("The node " + in_quotes(inner.name) + " inside the subgraph " +
                         in_quotes(node.name) +
                         " has a breakpoint. Set breakpoints in the outermost graph.");
      }
    }
  }
}

std::set<std::string> reachable(const GraphDefinition& graph) {
  std::set<std::string> reached;
  std::vector<std::string> open = graph.entries;
  while (!open.empty()) {
    std::string name = std::move(open.back());
    open.pop_back();
    const GraphDefinition::Node* node = graph.find(name);
    if (!node || !reached.insert(name).second) continue;
    for (std::string& target : ways_on(graph, *node)) open.push_back(std::move(target));
  }
  return reached;
}

// Returns the nodes from which the end can be reached.
std::set<std::string> leading_to_end(const GraphDefinition& graph) {
  std::set<std::string> leading{std::string(end)};
  for (bool changed = true; changed;) {
    changed = false;
    for (const GraphDefinition::Node& node : graph.nodes) {
      if (leading.contains(node.name)) continue;
      for (const std::string& target : ways_on(graph, node)) {
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
  check_joins(graph, faults);
  check_subgraphs(graph, faults);
  check_material_rules(graph, faults);
  // Reachability is checked only if all names are valid: a wrong name would also make nodes
  // unreachable, and each fault would be reported twice.
  if (!faults.empty()) return faults;
  std::set<std::string> reached = reachable(graph);
  std::set<std::string> leading = leading_to_end(graph);
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!reached.contains(node.name)) {
      faults.push_back("No edge leads to the node " + in_quotes(node.name) +
                       ". Add an edge to it, or remove it.");
    } else if (!leading.contains(node.name)) {
      faults.push_back("From the node " + in_quotes(node.name) +
                       " no path leads to the end. Add an edge out of the cycle.");
    }
  }
  return faults;
}

}  // namespace belay
