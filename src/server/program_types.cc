#include "server/program_types.h"

#include <algorithm>

#include "base/percent_encoding.h"
#include "server/component_names.h"
#include "server/openapi.h"

namespace belay::server {
namespace {

Value constant(std::string_view text) {
  return Value::object({{"type", "string"}, {"const", text}});
}

Value other_than(const std::vector<std::string>& texts) {
  Value::Array all(texts.begin(), texts.end());
  return Value::object({{"type", "string"}, {"not", Value::object({{"enum", std::move(all)}})}});
}

// Returns the schema of documents of the component `base` with these members.
Value narrowed(std::string_view base, Value::Object properties) {
  Value::Array names;
  for (const auto& [name, schema] : properties) names.emplace_back(name);
  Value::Array parts{schema_reference(base),
                     Value::object({{"type", "object"},
                                    {"properties", Value(std::move(properties))},
                                    {"required", std::move(names)}})};
  return Value::object({{"allOf", std::move(parts)}});
}

// A union of components by the value of a member, with the component of all other values.
class Union {
 public:
  explicit Union(std::string member) : member_(std::move(member)) {}

  void add(const std::string& value, const std::string& component) {
    values_.push_back(value);
    mapping_.emplace(value, "#/components/schemas/" + component);
    choices_.push_back(schema_reference(component));
  }
  const std::vector<std::string>& values() const { return values_; }
  bool is_empty() const { return values_.empty(); }
  Value schema(std::string_view other) const {
    Value::Array choices = choices_;
    choices.push_back(schema_reference(other));
    return Value::object(
        {{"oneOf", std::move(choices)},
         {"discriminator", Value::object({{"propertyName", member_}, {"mapping", mapping_}})}});
  }

 private:
  std::string member_;
  std::vector<std::string> values_;
  Value::Object mapping_;
  Value::Array choices_;
};

Value input_of(const GraphDefinition& graph) {
  return graph.state->schema ? graph.state->schema() : Value::object({{"type", "object"}});
}

Value state_of(const GraphDefinition& graph) {
  return graph.state->stored_schema ? graph.state->stored_schema()
                                    : Value::object({{"type", "object"}});
}

// The schema of the channel that an approval shows, in `state`.
Value channel_in(const Value& state, const GraphDefinition& graph,
                 const GraphDefinition::Approval& asked) {
  const Value* schema = state["properties"].find(graph.state->channels[asked.channel].name);
  return schema ? *schema : Value(true);
}

// Returns the schema of a request in which `members` replace the members of the same names.
Value with_members(Value schema, Value::Object members) {
  Value::Object& properties = *schema.as_object()->at("properties").as_object();
  for (auto& [name, member] : members) properties.insert_or_assign(name, std::move(member));
  return schema;
}

const Route* operation(const std::vector<Route>& routes, std::string_view id) {
  auto found = std::find_if(routes.begin(), routes.end(),
                            [&](const Route& route) { return route.id == id; });
  return found == routes.end() ? nullptr : &*found;
}

// The names of an approval's choices.
Value choices_of(const GraphDefinition::Approval& asked) {
  Value::Array names;
  for (const ApprovalChoice& choice : terms_of(asked).choices) names.emplace_back(choice.name);
  return Value::object({{"type", "string"}, {"enum", std::move(names)}});
}

// Adds the schemas of one program.
class TypeSchemas {
 public:
  TypeSchemas(const std::vector<Route>& routes, Value::Object& schemas)
      : decide_(operation(routes, "decide")), schemas_(schemas) {}

  void add(const NamedGraph& named) {
    const GraphDefinition& graph = *named.graph;
    schemas_.emplace("AgentInput_" + named.part, input_of(graph));
    schemas_.emplace("AgentState_" + named.part, state_of(graph));
    Value::Object members{{"agent", constant(graph.name)},
                          // Null for a person who decides about the run of another one.
                          {"state", detail::or_null(schema_reference("AgentState_" + named.part))}};
    if (add_approvals(named)) {
      members.emplace("approval", detail::or_null(schema_reference("AgentApproval_" + named.part)));
    }
    schemas_.emplace("AgentRun_" + named.part, narrowed("Run", std::move(members)));
    runs_.add(graph.name, "AgentRun_" + named.part);
  }

  void add(const NamedRecords& named) {
    const RecordCollection& collection = *named.collection;
    schemas_.emplace("Record_" + named.part, collection.schema);
    schemas_.emplace("StoredRecord_" + named.part,
                     narrowed("Record", {{"collection", constant(collection.name)},
                                         {"value", schema_reference("Record_" + named.part)}}));
    Value rows = Value::object(
        {{"type", "array"}, {"items", schema_reference("StoredRecord_" + named.part)}});
    schemas_.emplace("RecordList_" + named.part,
                     narrowed("RecordList", {{"records", std::move(rows)}}));
  }

  void add(const std::vector<Tool>& tools) {
    Value::Array payloads;
    for (const Tool& tool : tools) {
      const std::string& part = tool.name();
      schemas_.emplace("ToolArguments_" + part,
                       moved_references(tool.parameters(), "ToolArguments_" + part));
      schemas_.emplace("ToolCall_" + part, call_of(tool));
      payloads.push_back(schema_reference("ToolCall_" + part));
    }
    if (payloads.empty()) return;
    // With a description, because linters report an empty schema.
    payloads.push_back(Value::object({{"description", "The payload of another approval"}}));
    set_member("Approval", "payload", Value::object({{"anyOf", std::move(payloads)}}));
  }

  // Makes the general schemas refer to those of the agents.
  void finish() {
    if (!runs_.is_empty()) {
      schemas_.emplace("AnyRun", runs_.schema("RunOfOtherAgent"));
      schemas_.emplace("RunOfOtherAgent", narrowed("Run", {{"agent", other_than(runs_.values())}}));
      for (std::string_view name : {"Decision", "LostDecision"}) {
        set_member(name, "run", schema_reference("AnyRun"));
      }
    }
    if (approvals_.is_empty()) return;
    schemas_.emplace("AnyApproval", approvals_.schema("ApprovalOfOtherAgent"));
    schemas_.emplace("ApprovalOfOtherAgent",
                     narrowed("Approval", {{"agent", other_than(approvals_.values())}}));
    for (std::string_view name : {"Decision", "LostDecision"}) {
      set_member(name, "approval", schema_reference("AnyApproval"));
    }
    Value all = Value::object({{"type", "array"}, {"items", schema_reference("AnyApproval")}});
    for (std::string_view name : {"ApprovalList", "Overview"}) set_member(name, "approvals", all);
  }

 private:
  void set_member(std::string_view component, std::string_view member, Value schema) {
    auto found = schemas_.find(component);
    if (found == schemas_.end()) return;
    Value::Object& properties = *found->second.as_object()->at("properties").as_object();
    properties.insert_or_assign(std::string(member), std::move(schema));
  }

  // Returns false if the agent has no approvals.
  bool add_approvals(const NamedGraph& named) {
    Union approvals{"node"};
    for (const NamedApproval& each : named.approvals) {
      add_approval(named.graph->name, each);
      approvals.add(each.node->name, "Approval_" + each.part);
    }
    if (approvals.is_empty()) return false;
    std::string other = "OtherApproval_" + named.part;
    schemas_.emplace(other, narrowed("Approval", {{"agent", constant(named.graph->name)},
                                                  {"node", other_than(approvals.values())}}));
    // Generators of clients expect an object as a part of AnyApproval, also of a union.
    Value of_agent = approvals.schema(other);
    of_agent.as_object()->emplace("type", "object");
    of_agent.as_object()->emplace("properties",
                                  Value::object({{"agent", constant(named.graph->name)}}));
    schemas_.emplace("AgentApproval_" + named.part, std::move(of_agent));
    approvals_.add(named.graph->name, "AgentApproval_" + named.part);
    return true;
  }

  void add_approval(const std::string& agent, const NamedApproval& named) {
    const std::string& part = named.part;
    const GraphDefinition::Approval& asked = *named.node->approval;
    Value edit = channel_in(input_of(*named.graph), *named.graph, asked);
    schemas_.emplace("ApprovalPayload_" + part,
                     channel_in(state_of(*named.graph), *named.graph, asked));
    schemas_.emplace("Approval_" + part,
                     narrowed("Approval", {{"agent", constant(agent)},
                                           {"node", constant(named.node->name)},
                                           {"payload", schema_reference("ApprovalPayload_" + part)},
                                           {"editedPayload", detail::or_null(edit)}}));
    if (!decide_) return;
    Value::Object members{{"choice", choices_of(asked)}, {"edited", std::move(edit)}};
    if (!asked.answer_schema.is_null()) {
      schemas_.emplace("ApprovalAnswer_" + part, asked.answer_schema);
      members.emplace("answer", schema_reference("ApprovalAnswer_" + part));
    }
    schemas_.emplace("Decision_" + part, with_members(decide_->body, std::move(members)));
  }

  // The payload of the approval of a call: see agent/tool_call.cc.
  static Value call_of(const Tool& tool) {
    Value text = Value::object({{"type", "string"}});
    Value::Object properties{{"agentVersion", text},
                             {"arguments", schema_reference("ToolArguments_" + tool.name())},
                             {"call", text},
                             {"effect", constant(belay::name_of(tool.options().effect))},
                             {"reaches", Value::object({{"type", "array"}, {"items", text}})},
                             {"tool", constant(tool.name())},
                             {"toolVersion", text},
                             {"untrusted", Value::object({{"type", "boolean"}})}};
    Value::Array required;
    for (const auto& [name, schema] : properties) required.emplace_back(name);
    return Value::object({{"type", "object"},
                          {"properties", Value(std::move(properties))},
                          {"required", std::move(required)}});
  }

  // References within a schema are relative to the whole document.
  static Value moved_references(const Value& schema, const std::string& component) {
    if (const Value::Array* items = schema.as_array()) {
      Value::Array moved;
      for (const Value& each : *items) moved.push_back(moved_references(each, component));
      return Value(std::move(moved));
    }
    const Value::Object* members = schema.as_object();
    if (!members) return schema;
    Value::Object moved;
    for (const auto& [name, member] : *members) {
      const std::string* text = member.as_string();
      bool is_local = name == "$ref" && text && text->starts_with('#');
      moved.emplace(name, is_local ? Value("#/components/schemas/" + component + text->substr(1))
                                   : moved_references(member, component));
    }
    return Value(std::move(moved));
  }

  const Route* decide_;
  Value::Object& schemas_;
  Union runs_{"agent"};
  Union approvals_{"agent"};
};

// Returns the route of one agent.
Route start_of_agent(const Route& start, const NamedGraph& named) {
  Route route = start;
  route.path = "/api/agents/" + percent_encoded(named.graph->name) + "/runs";
  route.id = start.id + "_" + named.part;
  route.served_by = start.id;
  route.summary = "Start of a run of the agent " + named.graph->name;
  route.body = with_members(start.body, {{"input", schema_reference("AgentInput_" + named.part)}});
  for (ResponseSpec& answer : route.answers) {
    if (answer.schema == "Run") answer.schema = "AgentRun_" + named.part;
  }
  return route;
}

Route records_of_collection(const Route& find, const NamedRecords& named) {
  Route route = find;
  route.path = "/api/records/" + percent_encoded(named.collection->name);
  route.id = find.id + "_" + named.part;
  route.served_by = find.id;
  route.summary = "A user's records of the collection " + named.collection->name + ", by key";
  for (ResponseSpec& answer : route.answers) {
    if (answer.schema == "RecordList") answer.schema = "RecordList_" + named.part;
  }
  return route;
}

// The body of a decision: of any approval, or of a described one.
Value decision_body(const ProgramTypes& types, Value any) {
  Value::Array choices{std::move(any)};
  for (const NamedGraph& named : named_graphs(types)) {
    for (const NamedApproval& each : named.approvals) {
      choices.push_back(schema_reference("Decision_" + each.part));
    }
  }
  bool is_only = choices.size() == 1;
  return is_only ? std::move(choices.front()) : Value::object({{"anyOf", std::move(choices)}});
}

}  // namespace

void add_types(const ProgramTypes& types, const std::vector<Route>& routes,
               Value::Object& schemas) {
  TypeSchemas added(routes, schemas);
  for (const NamedGraph& named : named_graphs(types)) added.add(named);
  for (const NamedRecords& named : named_records(types)) added.add(named);
  added.add(types.tools);
  added.finish();
}

std::vector<Route> typed_routes(const ProgramTypes& types, std::vector<Route> routes) {
  std::vector<Route> typed;
  if (const Route* start = operation(routes, "startRun")) {
    for (const NamedGraph& named : named_graphs(types)) {
      typed.push_back(start_of_agent(*start, named));
    }
  }
  if (const Route* find = operation(routes, "findRecords")) {
    for (const NamedRecords& named : named_records(types)) {
      typed.push_back(records_of_collection(*find, named));
    }
  }
  for (Route& route : routes) {
    if (route.id == "decide") route.body = decision_body(types, std::move(route.body));
    // "/api/agents/{agent}/runs" also matches "/api/agents/status/{threadId}" of a module.
    if (route.id != "startRun") continue;
    for (const Route& start : typed) {
      if (start.served_by == route.id) route.same_as.push_back(start.id);
    }
  }
  for (Route& route : typed) {
    bool is_own = std::any_of(routes.begin(), routes.end(), [&](const Route& each) {
      return each.method == route.method && each.path == route.path;
    });
    if (!is_own) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace belay::server
