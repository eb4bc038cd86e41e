#include "belay/graph.h"

#include <algorithm>

#include "graph/question.h"
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

void describe_names(std::string_view what, const std::vector<std::string>& names,
                    std::string& text) {
  if (names.empty()) return;
  text += " ";
  text += what;
  for (const std::string& name : names) text += " " + name;
}

void describe_node(const GraphDefinition& graph, const GraphDefinition::Node& node,
                   std::string& text) {
  text += "node " + node.name + " attempts " + std::to_string(node.retry.attempts) + " base " +
          std::to_string(node.retry.base.count()) + " cap " +
          std::to_string(node.retry.cap.count()) + " timeout " +
          (node.timeout ? std::to_string(node.timeout->count()) : "none");
  text += node.choose ? " branch" : " edge";
  for (const std::string& target : node.targets) text += " " + target;
  if (const auto& approval = node.approval) {
    text += " approval of " + graph.state->channels[approval->channel].name + " approved " +
            approval->approved + " rejected " + approval->rejected + " expires " +
            std::to_string(approval->options.expires.count());
  }
  if (node.approval) {
    for (const auto& choice : node.approval->choices)
      text += " choice " + choice.name + " " + choice.target;
  }
  // Features that were added in later versions are described only if they are used: the hashes of
  // all other graphs must not change.
  describe_names("destinations", node.destinations, text);
  if (node.subgraph) text += " subgraph " + to_hex(node.subgraph->graph->hash);
  if (node.wait) text += " wait";
  if (node.interrupt_before) text += " interrupt_before";
  if (node.interrupt_after) text += " interrupt_after";
  text += "\n";
}

// Returns a hash that is equal for equal declarations on every machine. It is stored with each run:
// a change of this text makes stored runs belong to an unknown version.
Digest hash_of(const GraphDefinition& graph) {
  std::string text = "belay graph 1\nname " + graph.name + "\nentry " + graph.entries.front();
  for (std::size_t i = 1; i < graph.entries.size(); ++i) text += " " + graph.entries[i];
  text += "\n";
  for (const ChannelType& channel : graph.state->channels) {
    text += "channel " + channel.name;
    if (!channel.declaration.empty()) text += " " + channel.declaration;
    if (channel.index < graph.channel_rules.size()) {
      const GraphDefinition::ChannelRule& rule = graph.channel_rules[channel.index];
      if (rule.transient) text += " transient";
      if (rule.reduce) text += " reducer";
    }
    text += "\n";
  }
  for (const GraphDefinition::Node& node : graph.nodes) describe_node(graph, node, text);
  for (const GraphDefinition::Join& join : graph.joins) {
    describe_names("join into " + join.to + " from", join.from, text);
    text += "\n";
  }
  return sha256(text);
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
    definition.hash = hash_of(definition);
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
