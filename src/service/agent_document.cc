// The document of an agent: its name, its state and its nodes.

#include <algorithm>

#include "service/json_encode.h"

namespace belay {
namespace {

// Adds what most approvals do not have: choices, with their order, which an object does not have; a
// condition; several deciders; and a choice that an expiry makes.
void add_terms(const GraphDefinition::Approval& asked, Value::Object& approval) {
  const std::string by_default = ApprovalOptions().when_expired;
  if (asked.when) approval.emplace("conditional", true);
  if (asked.needs > 1) approval.emplace("needs", asked.needs);
  if (asked.options.when_expired != by_default) {
    approval.emplace("whenExpired", asked.options.when_expired);
  }
  if (asked.choices.empty()) return;
  Value::Object choices;
  Value::Array order;
  for (const auto& choice : asked.choices) {
    choices.emplace(choice.name, choice.target);
    order.push_back(choice.name);
  }
  approval.emplace("choices", std::move(choices));
  approval.emplace("choiceOrder", std::move(order));
}

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
    add_terms(asked, *approval.as_object());
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
