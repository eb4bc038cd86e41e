// The document of an agent: its name, its state and its nodes.

#include <algorithm>

#include "service/json_encode.h"

namespace belay {
namespace {

Value node_document(const GraphDefinition& graph, const GraphDefinition::Node& node) {
  Value approval;
  Value::Array targets(node.targets.begin(), node.targets.end());
  if (node.approval) {
    const GraphDefinition::Approval& asked = *node.approval;
    bool expires = asked.options.expires != Expiry::never;
    auto node_or_null = [](const std::string& name) {
      return name.empty() ? Value() : Value(name);
    };
    approval =
        Value::object({{"channel", graph.state->channels[asked.channel].name},
                       {"expiresMs", expires ? Value(asked.options.expires.count()) : Value()},
                       {"approved", node_or_null(asked.approved)},
                       {"rejected", node_or_null(asked.rejected)}});
    Value::Object choices;
    for (const auto& choice : asked.choices) choices.emplace(choice.name, choice.target);
    if (!choices.empty()) approval.as_object()->emplace("choices", std::move(choices));
  }
  return Value::object({{"name", node.name},
                        {"attempts", node.retry.attempts},
                        {"timeoutMs", node.timeout ? Value(node.timeout->count()) : Value()},
                        {"targets", std::move(targets)},
                        {"branches", node.choose != nullptr},
                        {"approval", std::move(approval)}});
}

Value channels_document(const GraphDefinition& graph) {
  Value::Array channels;
  for (const ChannelType& channel : graph.state->channels) channels.push_back(channel.name);
  return channels;
}

// Returns the declared channels of a JSON graph; null for a typed graph.
Value declared_document(const GraphDefinition& graph) {
  Value::Object declared;
  for (const ChannelType& channel : graph.state->channels) {
    if (!channel.declaration.empty()) declared.emplace(channel.name, channel.declaration);
  }
  return declared.empty() ? Value() : Value(std::move(declared));
}

}  // namespace

Value agent_document(const GraphDefinition& graph) {
  Value::Array nodes;
  Value::Array entries(graph.entries.begin(), graph.entries.end());
  for (const GraphDefinition::Node& node : graph.nodes) nodes.push_back(node_document(graph, node));
  Value document = Value::object({{"name", graph.name},
                                  {"hash", to_hex(graph.hash)},
                                  {"entries", std::move(entries)},
                                  {"channels", channels_document(graph)},
                                  {"declared", declared_document(graph)},
                                  {"nodes", std::move(nodes)}});
  if (graph.state->schema) document.as_object()->emplace("inputSchema", graph.state->schema());
  if (!graph.description.empty()) document.as_object()->emplace("description", graph.description);
  if (graph.one_run_per_thread) document.as_object()->emplace("oneRunPerThread", true);
  return document;
}

const Value* find_agent(const Value::Array& agents, std::string_view name) {
  const Value wanted(name);
  auto found = std::find_if(agents.begin(), agents.end(),
                            [&wanted](const Value& each) { return each["name"] == wanted; });
  return found == agents.end() ? nullptr : &*found;
}

}  // namespace belay
