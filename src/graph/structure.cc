#include "graph/structure.h"

#include <algorithm>

namespace belay {
namespace {

// The texts of hashes: with policies, and with the structure only.
enum class Edition { former, current };

void add_names(std::string_view what, const std::vector<std::string>& names, std::string& text) {
  if (names.empty()) return;
  text += " ";
  text += what;
  for (const std::string& name : names) text += " " + name;
}

std::string policy_text(const GraphDefinition::Node& node) {
  return " attempts " + std::to_string(node.retry.attempts) + " base " +
         std::to_string(node.retry.base.count()) + " cap " +
         std::to_string(node.retry.cap.count()) + " timeout " +
         (node.timeout ? std::to_string(node.timeout->count()) : "none");
}

std::string node_line(const GraphDefinition& graph, const GraphDefinition::Node& node,
                      Edition edition) {
  bool is_former = edition == Edition::former;
  std::string text = "node " + node.name;
  if (is_former) text += policy_text(node);
  text += node.choose ? " branch" : " edge";
  for (const std::string& target : node.targets) text += " " + target;
  if (const auto& approval = node.approval) {
    text += " approval of " + graph.state->channels[approval->channel].name + " approved " +
            approval->approved + " rejected " + approval->rejected;
    if (is_former) text += " expires " + std::to_string(approval->options.expires.count());
    for (const auto& choice : approval->choices) {
      text += " choice " + choice.name + " " + choice.target;
    }
  }
  // Features that were added later are described only if they are used: the hashes of all other
  // graphs must not change.
  add_names("destinations", node.destinations, text);
  if (node.subgraph) {
    const GraphDefinition& inner = *node.subgraph->graph;
    text += " subgraph " + to_hex(is_former ? inner.former_hash : inner.hash);
  }
  if (node.wait) text += " wait";
  if (node.interrupt_before) text += " interrupt_before";
  if (node.interrupt_after) text += " interrupt_after";
  return text;
}

std::vector<std::string> channel_lines(const GraphDefinition& graph) {
  std::vector<std::string> lines;
  for (const ChannelType& channel : graph.state->channels) {
    std::string text = "channel " + channel.name;
    if (!channel.declaration.empty()) text += " " + channel.declaration;
    if (channel.index < graph.channel_rules.size()) {
      const GraphDefinition::ChannelRule& rule = graph.channel_rules[channel.index];
      if (rule.transient) text += " transient";
      if (rule.reduce) text += " reducer";
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

std::vector<std::string> lines_of(const GraphDefinition& graph, Edition edition) {
  std::vector<std::string> lines{"name " + graph.name};
  std::string entries = "entry";
  for (const std::string& entry : graph.entries) entries += " " + entry;
  lines.push_back(std::move(entries));
  std::vector<std::string> channels = channel_lines(graph);
  // The members of a struct can be moved: values are stored by name.
  if (edition == Edition::current) std::sort(channels.begin(), channels.end());
  lines.insert(lines.end(), channels.begin(), channels.end());
  for (const GraphDefinition::Node& node : graph.nodes) {
    lines.push_back(node_line(graph, node, edition));
  }
  for (const GraphDefinition::Join& join : graph.joins) {
    std::string text;
    add_names("join into " + join.to + " from", join.from, text);
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string text_of(std::string_view head, const std::vector<std::string>& lines) {
  std::string text(head);
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::vector<std::string> structure_of(const GraphDefinition& graph) {
  return lines_of(graph, Edition::current);
}

std::string joined(const std::vector<std::string>& structure) {
  return text_of("belay graph 2\n", structure);
}

std::map<std::string, std::string> materials_of(const GraphDefinition& graph) {
  std::map<std::string, std::string> materials = graph.materials;
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!node.subgraph) continue;
    for (auto& [name, digest] : materials_of(*node.subgraph->graph)) {
      materials.emplace(node.name + "/" + name, digest);
    }
  }
  for (auto& [name, digest] : materials) {
    bool is_model = name == "model" || name.ends_with("/model");
    if (is_model && digest.empty()) digest = graph.default_model;
  }
  return materials;
}

std::string policies_of(const GraphDefinition& graph) {
  std::string text;
  for (const GraphDefinition::Node& node : graph.nodes) {
    text += node.name + policy_text(node);
    if (node.approval) {
      text += " expires " + std::to_string(node.approval->options.expires.count());
    }
    text += "\n";
    if (node.subgraph) text += policies_of(*node.subgraph->graph);
  }
  return text;
}

Digest former_hash_of(const GraphDefinition& graph) {
  return sha256(text_of("belay graph 1\n", lines_of(graph, Edition::former)));
}

std::shared_ptr<const GraphDefinition> former_edition(const GraphDefinition& graph) {
  auto former = std::make_shared<GraphDefinition>(graph);
  former->hash = graph.former_hash;
  return former;
}

}  // namespace belay
