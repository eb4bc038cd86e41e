#include "server/openapi.h"

#include <algorithm>

#include "server/problem.h"

namespace belay::server {
namespace {

// Returns the schema of a response: that of all agents for one of any agent.
Value answer_schema(const std::string& name, const Value::Object& schemas) {
  if (name.empty()) return Value::object({});
  if (name == "ThreadRun" && schemas.contains("AnyRun")) {
    Value::Array both{schema_reference("AnyRun"), schema_reference(name)};
    return Value::object({{"allOf", std::move(both)}});
  }
  bool is_of_agents = schemas.contains("Any" + name);
  return schema_reference(is_of_agents ? "Any" + name : name);
}

Value content_of(const ResponseSpec& answer, const Value::Object& schemas) {
  Value schema = answer_schema(answer.schema, schemas);
  return Value::object({{answer.type, Value::object({{"schema", std::move(schema)}})}});
}

std::string_view place_of(Parameter::In in) {
  switch (in) {
    case Parameter::In::path:
      return "path";
    case Parameter::In::query:
      return "query";
    case Parameter::In::header:
      return "header";
  }
  return "query";
}

Value parameter_document(const Parameter& parameter) {
  return Value::object({{"name", parameter.name},
                        {"in", place_of(parameter.in)},
                        {"description", parameter.help},
                        {"required", parameter.is_required},
                        {"schema", parameter.schema}});
}

// Returns the names of parameters such as "{threadId}".
std::vector<std::string> names_in(std::string_view path) {
  std::vector<std::string> names;
  while (true) {
    std::size_t open = path.find('{');
    if (open == path.npos) return names;
    std::size_t close = path.find('}', open);
    names.emplace_back(path.substr(open + 1, close - open - 1));
    path.remove_prefix(close + 1);
  }
}

Value::Array parameters_of(const Route& route) {
  Value::Array all;
  for (const std::string& name : names_in(route.path)) {
    Parameter parameter;
    parameter.name = name;
    parameter.in = Parameter::In::path;
    parameter.is_required = true;
    parameter.schema = Value::object({{"type", "string"}});
    all.push_back(parameter_document(parameter));
  }
  for (const Parameter& each : route.parameters) all.push_back(parameter_document(each));
  return all;
}

void add_problem(const std::string& status, std::string_view text, Value::Object& responses) {
  Value problem = Value::object(
      {{"application/problem+json", Value::object({{"schema", schema_reference("Problem")}})}});
  responses.emplace(status,
                    Value::object({{"description", text}, {"content", std::move(problem)}}));
}

void add_problem(int status, Value::Object& responses) {
  add_problem(std::to_string(status), reason_of(status), responses);
}

// Adds the schema of one more response with this content type.
void add_content(const std::string& type, Value content, Value::Object& kinds) {
  auto [found, is_new] = kinds.try_emplace(type, content);
  if (is_new) return;
  const Value& before = std::as_const(found->second)["schema"];
  Value::Array choices{before};
  if (const Value::Array* several = before["anyOf"].as_array()) choices = *several;
  choices.push_back(std::as_const(content)["schema"]);
  found->second =
      Value::object({{"schema", Value::object({{"anyOf", Value(std::move(choices))}})}});
}

// Several ResponseSpecs with the same status become one response with several content types; those
// with the same content type, too, one whose schema is any of theirs.
Value::Object responses_of(const Route& route, const Value::Object& schemas) {
  Value::Object responses;
  for (const ResponseSpec& answer : route.answers) {
    Value content = content_of(answer, schemas);
    auto [found, is_new] = responses.try_emplace(std::to_string(answer.status));
    if (is_new) found->second = Value::object({{"description", answer.help}});
    if (answer.status == 101 || answer.status == 304) continue;
    Value::Object& members = *found->second.as_object();
    Value& kinds = members["content"];
    if (kinds.is_null()) kinds = Value(Value::Object{});
    for (auto& [type, schema] : *content.as_object()) {
      add_content(type, std::move(schema), *kinds.as_object());
    }
  }
  // A WebSocket has no response of success.
  if (route.open_web_socket) add_problem("default", "An error", responses);
  if (route.permission == Permission::open) {
    for (int status : {400, 422}) add_problem(status, responses);
    return responses;
  }
  for (int status : {400, 401, 403, 404, 409, 413, 422, 429, 503}) add_problem(status, responses);
  return responses;
}

Value::Array other_paths_of(const Route& route, const std::vector<Route>& all) {
  Value::Array paths;
  for (const Route& other : all) {
    if (std::find(other.same_as.begin(), other.same_as.end(), route.id) == other.same_as.end()) {
      continue;
    }
    paths.push_back(Value::object({{"operationId", other.id}, {"path", other.path}}));
  }
  return paths;
}

Value operation_of(const Route& route, const Value::Object& schemas) {
  Value::Object operation{{"operationId", route.id},
                          {"summary", route.summary},
                          {"x-permission", name_of(route.permission)},
                          {"responses", Value(responses_of(route, schemas))}};
  if (!route.served_by.empty()) operation.emplace("x-served-by", route.served_by);
  if (route.begins_run) operation.emplace("x-begins-run", true);  // counts against the start limits
  Value::Array parameters = parameters_of(route);
  if (!parameters.empty()) operation.emplace("parameters", std::move(parameters));
  if (!route.body.is_null()) {
    Value json = Value::object({{"schema", route.body}});
    operation.emplace(
        "requestBody",
        Value::object({{"required", route.body.find("required") != nullptr},
                       {"content", Value::object({{"application/json", std::move(json)}})}}));
  }
  if (route.permission == Permission::open) operation.emplace("security", Value::Array{});
  return Value(std::move(operation));
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

Value schema_reference(std::string_view name) {
  return Value::object({{"$ref", "#/components/schemas/" + std::string(name)}});
}

void refer_to_names(Value& body, std::string_view member, std::string_view names) {
  Value::Object& properties = *body.as_object()->at("properties").as_object();
  properties.insert_or_assign(std::string(member), schema_reference(names));
}

Value describe(const std::vector<Route>& routes, const ApiOptions& options) {
  Value schemas = answer_schemas(options.schemas);
  Value::Object& known = *schemas.as_object();
  add_types(options.types, routes, known);
  Value::Object paths;
  std::vector<Route> all = typed_routes(options.types, routes);
  for (const Route& route : all) {
    if (!route.same_as.empty()) continue;
    Value operation = operation_of(route, known);
    Value::Array others = other_paths_of(route, all);
    if (!others.empty()) operation.as_object()->emplace("x-other-paths", std::move(others));
    Value& path = paths[route.path];
    if (path.is_null()) path = Value(Value::Object{});
    path.as_object()->insert_or_assign(lower(route.method), std::move(operation));
  }
  Value bearer = Value::object({{"type", "http"}, {"scheme", "bearer"}});
  Value::Array servers{Value::object({{"url", "/"}, {"description", "This server"}})};
  Value::Array security{Value::object({{"bearer", Value::Array{}}})};
  return Value::object(
      {{"openapi", "3.1.0"},
       {"info", Value::object({{"title", "Belay"},
                               {"version", options.version},
                               {"description", "Durable agents: runs, approvals, events."},
                               {"license", Value::object({{"name", "Apache License 2.0"},
                                                          {"identifier", "Apache-2.0"}})}})},
       {"servers", std::move(servers)},
       {"paths", Value(std::move(paths))},
       {"security", Value(std::move(security))},
       {"components",
        Value::object({{"schemas", std::move(schemas)},
                       {"securitySchemes", Value::object({{"bearer", std::move(bearer)}})}})}});
}

}  // namespace belay::server
