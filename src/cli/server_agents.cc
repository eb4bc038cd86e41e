#include "cli/server_agents.h"

#include "graph/json_channels.h"
#include "service/json_decode.h"
#include "service/json_encode.h"

namespace belay::cli {
// Not in the unnamed namespace below, because the codec reads the names of their members.

// The members of agent_document() for a node; each one may be missing.
struct ApprovalDocument {
  std::string channel{};
  std::optional<std::int64_t> expiresMs{};  // absent: never
  std::optional<std::string> approved{};    // absent, as `rejected`: no such choice
  std::optional<std::string> rejected{};
  std::map<std::string, std::string> choices{};  // the target of each
  std::vector<std::string> choiceOrder{};
  std::optional<std::string> whenExpired{};
  std::int64_t needs = 1;
  bool conditional = false;
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
  bool oneRunPerThread = false;
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

// A server that sends no order of the choices is an older Belay.
std::vector<GraphDefinition::Approval::Choice> choices_of(const ApprovalDocument& document) {
  std::vector<GraphDefinition::Approval::Choice> choices;
  auto left = document.choices;
  for (const std::string& name : document.choiceOrder) {
    if (auto found = left.extract(name)) choices.push_back({found.key(), found.mapped()});
  }
  for (const auto& [name, target] : left) choices.push_back({name, target});
  return choices;
}

GraphDefinition::Approval approval_of(const ApprovalDocument& document, const StateType& state) {
  GraphDefinition::Approval approval;
  approval.options.expires = Expiry::never;
  if (document.expiresMs) approval.options.expires = std::chrono::milliseconds(*document.expiresMs);
  approval.approved = document.approved.value_or("");
  approval.rejected = document.rejected.value_or("");
  approval.choices = choices_of(document);
  if (document.whenExpired) approval.options.when_expired = *document.whenExpired;
  approval.needs = document.needs;
  if (document.conditional) approval.when = [](const void*) { return true; };
  for (std::size_t i = 0; i < state.channels.size(); ++i) {
    if (state.channels[i].name == document.channel) approval.channel = i;
  }
  return approval;
}

GraphDefinition::Node node_of(const NodeDocument& document, const StateType& state) {
  GraphDefinition::Node node;
  node.name = document.name;
  node.retry.attempts = document.attempts;
  if (document.timeoutMs) node.timeout = std::chrono::milliseconds(*document.timeoutMs);
  node.targets = document.targets;
  if (document.branches) node.choose = [](const void*) { return GraphDefinition::Choice(0u); };
  if (!document.approval) return node;
  node.approval = approval_of(*document.approval, state);
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
  made->one_run_per_thread = agent->oneRunPerThread;
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
