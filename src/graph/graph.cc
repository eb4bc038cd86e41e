#include "belay/graph.h"

#include <algorithm>

#include "graph/question.h"
#include "graph/validate.h"

namespace belay {
namespace {

// Hands each declared edge and branch to its node; the faults that only the declarations show.
std::vector<std::string> connect(GraphDefinition& graph, std::vector<GraphWay> ways) {
  std::vector<std::string> faults;
  for (GraphWay& way : ways) {
    if (way.from == start) {
      if (way.choose || way.targets.size() != 1 || !graph.entry.empty()) {
        faults.push_back("It begins in more than one way; write one .edge(start, \"...\").");
      } else {
        graph.entry = std::move(way.targets.front());
      }
      continue;
    }
    auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                             [&](const auto& each) { return each.name == way.from; });
    std::string from = "\"" + way.from + "\"";
    if (node == graph.nodes.end()) {
      faults.push_back("An edge begins at " + from +
                       ", which does not exist; add that node or correct the name.");
    } else if (node->approval) {
      faults.push_back("An edge begins at the approval " + from +
                       "; write .approved(\"...\") and .rejected(\"...\") instead.");
    } else if (!node->targets.empty()) {
      faults.push_back("Two edges or branches begin at " + from +
                       "; write one branch that chooses.");
    } else if (way.targets.empty()) {
      faults.push_back("The branch at " + from + " has no targets; name all that it may choose.");
    } else {
      node->targets = std::move(way.targets);
      node->choose = std::move(way.choose);
    }
  }
  return faults;
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
    text += " approval of " + std::string(graph.state->channels[approval->channel].name) +
            " approved " + approval->approved + " rejected " + approval->rejected + " expires " +
            std::to_string(approval->options.expires.count());
  }
  text += "\n";
}

// The same declaration gives the same hash on every machine.
Digest hash_of(const GraphDefinition& graph) {
  std::string text = "belay graph 1\nname " + graph.name + "\nentry " + graph.entry + "\n";
  for (const ChannelType& channel : graph.state->channels) {
    text += "channel " + std::string(channel.name) + "\n";
  }
  for (const GraphDefinition::Node& node : graph.nodes) describe_node(graph, node, text);
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
                                                            std::vector<GraphWay> ways) {
  std::vector<std::string> faults = connect(definition, std::move(ways));
  for (std::string& fault : faults_of(definition)) faults.push_back(std::move(fault));
  if (faults.empty()) {
    definition.hash = hash_of(definition);
    return std::make_shared<const GraphDefinition>(std::move(definition));
  }
  std::string message = "The graph \"" + definition.name + "\" can't be built.";
  for (std::size_t i = 0; i < faults.size(); ++i) {
    message += " (" + std::to_string(i + 1) + ") " + faults[i];
  }
  return error(ErrorCode::invalid, std::move(message));
}

std::string question_key(std::string_view name, std::string_view payload_json) {
  return std::string(name) + " " + to_hex(sha256(payload_json));
}

}  // namespace belay
