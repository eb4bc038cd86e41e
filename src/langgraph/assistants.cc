#include "langgraph/assistants.h"

#include <openssl/evp.h>

#include <algorithm>

#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The namespace of URLs of RFC 9562 with the next number: that of the protocol's graphs.
constexpr std::string_view kGraphNamespace = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";
constexpr std::string_view kStart = "__start__";
constexpr std::string_view kEnd = "__end__";

Assistant system_assistant(const Value& agent) {
  Assistant assistant;
  assistant.graph_id = *agent["name"].as_string();
  assistant.id = system_assistant_id(assistant.graph_id);
  assistant.name = assistant.graph_id;
  if (const std::string* text = agent["description"].as_string()) assistant.description = *text;
  assistant.config = assistant.context = Value(Value::Object{});
  assistant.metadata = Value::object({{"created_by", "system"}});
  assistant.is_system = true;
  return assistant;
}

Value node_of_graph(std::string_view name, bool is_schema) {
  if (is_schema) return Value::object({{"id", name}, {"type", "schema"}, {"data", name}});
  Value data = Value::object({{"id", Value::Array{"belay", "Node"}}, {"name", name}});
  return Value::object({{"id", name}, {"type", "runnable"}, {"data", std::move(data)}});
}

// The edges of a graph: of two nodes at most one.
class Edges {
 public:
  void add(std::string_view source, std::string_view target, bool is_conditional,
           std::string_view label = {}) {
    if (target == end) target = kEnd;
    bool is_new = pairs_.emplace(source, target).second;
    if (!is_new) return;
    Value::Object edge{{"source", source}, {"target", target}};
    if (is_conditional) edge.emplace("conditional", true);
    if (!label.empty()) edge.emplace("data", label);
    edges_.push_back(std::move(edge));
  }
  Value::Array take() { return std::move(edges_); }

 private:
  std::set<std::pair<std::string, std::string>> pairs_;
  Value::Array edges_;
};

}  // namespace

std::string AssistantVersionRecord::key() const {
  constexpr std::size_t kDigits = 8;
  std::string number = std::to_string(assistant.version);
  return assistant.id + ":" + std::string(kDigits - std::min(kDigits, number.size()), '0') + number;
}

std::string system_assistant_id(std::string_view graph_id) {
  constexpr std::size_t kSha1Bytes = 20;
  Uuid id = *uuid_from(kGraphNamespace);
  std::string named(id.bytes.begin(), id.bytes.end());
  named += graph_id;
  std::array<std::uint8_t, kSha1Bytes> digest{};
  EVP_Digest(named.data(), named.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x50);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  return id.text();
}

Error no_assistant(std::string_view id_or_graph) {
  return error(ErrorCode::not_found,
               "No assistant found for \"" + std::string(id_or_graph.substr(0, 200)) +
                   "\". Make sure that it is the id of an assistant or the name of a graph.");
}

Task<Result<Assistant>> find_assistant(server::ApiContext&, const Call& call,
                                       std::string id_or_graph) {
  auto id = uuid_from(id_or_graph);
  if (id) id_or_graph = id->text();
  BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
  for (const Value& agent : *agents) {
    const std::string& name = *agent["name"].as_string();
    if (name == id_or_graph || (id && system_assistant_id(name) == id_or_graph)) {
      co_return system_assistant(agent);
    }
  }
  if (!id) co_return no_assistant(id_or_graph);
  auto records = records_of(call.service, call.who, call.who.user);
  std::string key = id_or_graph;
  BELAY_CO_TRY(std::optional<AssistantRecord> record,
               co_await records->get<AssistantRecord>(std::move(key)));
  if (!record) co_return no_assistant(id_or_graph);
  co_return assistant_of(*std::move(record));
}

Task<Result<std::vector<Assistant>>> all_assistants(const Call& call) {
  std::vector<Assistant> all;
  BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
  for (const Value& agent : *agents) all.push_back(system_assistant(agent));
  RecordFilter filter;
  BELAY_CO_TRY(UserRecords<AssistantRecord> created,
               co_await read_records<AssistantRecord>(call.service, call.who, call.who.user,
                                                      std::move(filter)));
  for (auto& each : created.records) all.push_back(assistant_of(std::move(each.record)));
  co_return std::move(all);
}

Task<Result<Value>> agent_named(const Call& call, std::string graph_id) {
  BELAY_CO_TRY(AgentDocuments agents, co_await call.service.agents(call.who));
  if (const Value* agent = find_agent(*agents, graph_id)) co_return *agent;
  co_return error(ErrorCode::not_found, "Graph \"" + graph_id.substr(0, 200) + "\" not found.");
}

Assistant assistant_of(AssistantRecord record) {
  Assistant assistant;
  assistant.id = std::move(record.id);
  assistant.graph_id = std::move(record.graph_id);
  assistant.config = std::move(record.config);
  assistant.context = std::move(record.context);
  assistant.metadata = std::move(record.metadata);
  assistant.version = record.version;
  assistant.name = std::move(record.name);
  assistant.description = std::move(record.description);
  assistant.created_at = record.created_at;
  assistant.updated_at = record.updated_at;
  return assistant;
}

Value assistant_document(const Assistant& assistant) {
  const std::string& text = assistant.description;
  return Value::object({{"assistant_id", assistant.id},
                        {"graph_id", assistant.graph_id},
                        {"config", assistant.config},
                        {"context", assistant.context},
                        {"metadata", assistant.metadata},
                        {"version", assistant.version},
                        {"name", assistant.name},
                        {"description", text.empty() ? Value() : Value(text)},
                        {"created_at", to_text(assistant.created_at)},
                        {"updated_at", to_text(assistant.updated_at)}});
}

Value graph_document(const Value& agent) {
  Value::Array nodes{node_of_graph(kStart, true)};
  Edges edges;
  for (const Value& entry : *agent["entries"].as_array()) {
    edges.add(kStart, *entry.as_string(), false);
  }
  for (const Value& node : *agent["nodes"].as_array()) {
    const std::string& name = *node["name"].as_string();
    nodes.push_back(node_of_graph(name, false));
    for (const char* decision : {"approved", "rejected"}) {
      const std::string* target = node["approval"][decision].as_string();
      if (target) edges.add(name, *target, true, decision);
    }
    const Value::Object* choices = node["approval"]["choices"].as_object();
    for (const auto& [choice, target] : choices ? *choices : Value::Object()) {
      edges.add(name, *target.as_string(), true, choice);
    }
    bool is_conditional = node["branches"] == Value(true);
    for (const Value& target : *node["targets"].as_array()) {
      edges.add(name, *target.as_string(), is_conditional);
    }
  }
  nodes.push_back(node_of_graph(kEnd, true));
  return Value::object({{"nodes", std::move(nodes)}, {"edges", edges.take()}});
}

Value schemas_document(const Value& agent) {
  const Value& state = agent["inputSchema"];
  Value none = Value::object({{"type", "object"}, {"properties", Value(Value::Object{})}});
  return Value::object({{"graph_id", agent["name"]},
                        {"input_schema", state},
                        {"output_schema", state},
                        {"state_schema", state},
                        {"config_schema", none},
                        {"context_schema", none}});
}

}  // namespace belay::langgraph
