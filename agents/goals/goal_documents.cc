#include "agents/goals/goal_documents.h"

#include "belay/route.h"

namespace belay::goals {

// Not in the unnamed namespace, because the codec reads the names of its members.
struct GoalBody {
  std::string objective{};
  GoalParams params{};
  std::string memory{};
  std::int64_t priority = 0;
};

namespace {

template <typename T>
Result<Value> document_from(const T& record) {
  BELAY_TRY(std::string json, encode_json(record));
  return parse_json(json);
}

// Members that a body can set to null, and that documents show as null if they are unset.
constexpr std::string_view kUnsetParams[] = {"temperature", "maxTokens", "tokenBudget",
                                             "costBudget", "tokenLimit"};

Value nullable(const Value& type) {
  return Value::object({{"anyOf", Value::Array{type, Value::object({{"type", "null"}})}}});
}

void permit_null(Value& schema) {
  Value& params = schema.as_object()->at("properties").as_object()->at("params");
  Value::Object& members = *params.as_object()->at("properties").as_object();
  for (std::string_view name : kUnsetParams) {
    Value& member = members.find(name)->second;
    member = nullable(member);
  }
}

void change_member(Value::Object& members, const std::string& name, const Value& value) {
  if (value.is_null()) {
    members.erase(name);  // decoded as its default
  } else {
    members.insert_or_assign(name, value);
  }
}

}  // namespace

Result<Value> goal_document(const Goal& goal) { return document_from(goal); }
Result<Value> step_document(const GoalStep& step) { return document_from(step); }

Result<Done> apply_changes(Goal& goal, const Value& changes) {
  BELAY_TRY(Value document, goal_document(goal));
  Value::Object& members = *document.as_object();
  for (const char* name : {"objective", "memory", "status", "priority"}) {
    if (const Value* value = changes.find(name)) change_member(members, name, *value);
  }
  if (const Value::Object* params = changes["params"].as_object()) {
    Value::Object& own = *members.at("params").as_object();
    for (const auto& [name, value] : *params) change_member(own, name, value);
  }
  BELAY_TRY(goal, decode_json<Goal>(document));
  return Done{};
}

Value goal_schema() {
  Value schema = body_schema<Goal>(
      {"id", "objective", "params", "memory", "status", "priority", "createdAt", "updatedAt"});
  permit_null(schema);
  return schema;
}

Value step_schema() {
  return body_schema<GoalStep>({"goal", "run", "number", "thought", "calls", "observation", "error",
                                "createdAt", "durationMs"});
}

Value goal_body_schema(bool requires_objective) {
  Value schema =
      requires_objective ? body_schema<GoalBody>({"objective"}) : body_schema<GoalBody>();
  permit_null(schema);
  return schema;
}

Value page_schema(std::string_view member, std::string_view item) {
  Value reference = Value::object({{"$ref", "#/components/schemas/" + std::string(item)}});
  Value list = Value::object({{"type", "array"}, {"items", std::move(reference)}});
  Value next = nullable(Value::object({{"type", "string"}}));
  return Value::object({{"type", "object"},
                        {"properties", Value::object({{std::string(member), std::move(list)},
                                                      {"next", std::move(next)}})},
                        {"required", Value::Array{member, "next"}}});
}

}  // namespace belay::goals
