#include "cli/server_agents.h"

#include "graph/json_channels.h"
#include "service/json_decode.h"
#include "service/json_encode.h"

namespace belay::cli {
// Not in the unnamed namespace below, because the codec reads the names of their members.

// The members of agent_document() for a node; each one may be missing.
struct ApprovalDocument {
  std::string channel{};
  std::int64_t expiresMs = 0;
  std::string approved{};
  std::string rejected{};
};

struct NodeDocument {
  std::string name{};
  int attempts = 1;
  std::optional<std::int64_t> timeoutMs{};
  std::vector<std::string> targets{};
  bool branches = false;
  std::optional<ApprovalDocument> approval{};
};

struct AgentDocument {
  std::string name{};
  std::string hash{};
  std::vector<std::string> entries{};
  std::vector<std::string> channels{};
  std::optional<std::map<std::string, std::string>> declared{};
  std::vector<NodeDocument> nodes{};
  Value inputSchema{};
  std::string description{};
};

namespace {

std::shared_ptr<const StateType> state_of(const AgentDocument& agent) {
  JsonChannels::Declared declared;
  for (const std::string& channel : agent.channels) declared.emplace_back(channel, JsonChannel{});
  auto channels = std::make_shared<JsonChannels>(std::move(declared));
  auto state = std::make_shared<StateType>(channels->state_type());
  state->schema = nullptr;
  if (agent.inputSchema.as_object()) {
    state->schema = [schema = agent.inputSchema] { return schema; };
  }
  for (ChannelType& channel : state->channels) {
    bool is_declared = agent.declared && agent.declared->contains(std::string(channel.name));
    channel.declaration = is_declared ? agent.declared->at(std::string(channel.name)) : "";
  }
  return state;
}

GraphDefinition::Node node_of(const NodeDocument& document, const StateType& state) {
  GraphDefinition::Node node;
  node.name = document.name;
  node.retry.attempts = document.attempts;
  if (document.timeoutMs) node.timeout = std::chrono::milliseconds(*document.timeoutMs);
  node.targets = document.targets;
  if (document.branches) node.choose = [](const void*) { return GraphDefinition::Choice(0u); };
  if (!document.approval) return node;
  GraphDefinition::Approval approval;
  approval.options.expires = std::chrono::milliseconds(document.approval->expiresMs);
  approval.approved = document.approval->approved;
  approval.rejected = document.approval->rejected;
  for (std::size_t i = 0; i < state.channels.size(); ++i) {
    if (state.channels[i].name == document.approval->channel) approval.channel = i;
  }
  node.approval = std::move(approval);
  return node;
}

Result<std::shared_ptr<const GraphDefinition>> definition_of(const Value& document,
                                                             const Definitions& own) {
  auto agent = decode_json<AgentDocument>(document);
  if (!agent.ok() || agent->name.empty() || agent->channels.empty()) {
    return error(
        ErrorCode::invalid,
        "An agent of the server could not be read. The server runs another version of Belay.");
  }
  for (const auto& graph : own) {
    if (graph->name == agent->name && to_hex(graph->hash) == agent->hash) return graph;
  }
  auto made = std::make_shared<GraphDefinition>();
  made->name = agent->name;
  made->hash = digest_from(agent->hash).value_or(Digest{});
  made->entries = agent->entries;
  made->description = agent->description;
  made->own_state = state_of(*agent);
  made->state = made->own_state.get();
  for (const NodeDocument& node : agent->nodes) {
    made->nodes.push_back(node_of(node, *made->state));
    made->nodes.back().index = made->nodes.size() - 1;
  }
  return std::shared_ptr<const GraphDefinition>(std::move(made));
}

}  // namespace

Result<Definitions> definitions_of(const Value::Array& documents, const Definitions& own) {
  Definitions all;
  for (const Value& document : documents) {
    BELAY_TRY(std::shared_ptr<const GraphDefinition> one, definition_of(document, own));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace belay::cli
