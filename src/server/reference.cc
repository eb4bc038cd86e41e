#include "server/reference.h"

#include <algorithm>

#include "server/openapi.h"

namespace belay::server {
namespace {

// Describes the members of a schema in one line: "`date` string, `limit` integer".
std::string members_of(const Value& schema) {
  const Value::Object* properties = schema["properties"].as_object();
  if (!properties || properties->empty()) return "`{}`";
  const Value::Array* required = schema["required"].as_array();
  std::string text;
  for (const auto& [name, member] : *properties) {
    bool is_required =
        required && std::find(required->begin(), required->end(), Value(name)) != required->end();
    const std::string* type = member["type"].as_string();
    text += (text.empty() ? "" : ", ") + std::string("`") + name + "` " +
            (type ? *type : std::string("any")) + (is_required ? " (needed)" : "");
  }
  return text;
}

std::string parameters_text(const Route& route) {
  std::string text;
  for (const Parameter& each : route.parameters) {
    std::string_view where = each.in == Parameter::In::header ? " (header)" : "";
    text += (text.empty() ? "" : "; ") + std::string("`") + each.name + "`" + std::string(where) +
            ": " + each.help;
  }
  return text;
}

std::string answers_text(const Route& route) {
  std::string text;
  for (const ResponseSpec& answer : route.answers) {
    text += (text.empty() ? "" : "; ") + std::to_string(answer.status) + ": " + answer.help;
    if (!answer.schema.empty()) text += " (" + answer.schema + ")";
  }
  return text;
}

// Formats "anyOf null" and references in the notation of answer_schemas.cc.
std::string type_text(const Value& schema) {
  if (schema.as_bool()) return "any";
  if (const std::string* reference = schema["$ref"].as_string()) {
    return reference->substr(reference->rfind('/') + 1);
  }
  if (const Value::Array* choices = schema["anyOf"].as_array()) {
    return type_text(choices->front()) + " or null";
  }
  const std::string* type = schema["type"].as_string();
  if (type && *type == "array") return "list of " + type_text(schema["items"]);
  return type ? *type : "any";
}

void add_schema(const std::string& name, const Value& schema, std::string& text) {
  text += "- **" + name + "**:";
  std::string separator = " ";
  for (const auto& [member, type] : *schema["properties"].as_object()) {
    text += separator + "`" + member + "` " + type_text(type);
    separator = ", ";
  }
  text += "\n";
}

}  // namespace

std::string reference_text(const std::vector<Route>& routes) {
  std::string text =
      "# API reference\n\nMade by `belay api --markdown` from the table of routes; a test holds "
      "it. [api.md](api.md) says what holds for all of them.\n";
  for (const Route& route : routes) {
    text += "\n## " + route.method + " " + route.path + "\n\n" + route.summary +
            ". Permission: " + std::string(name_of(route.permission)) + ".\n\n";
    if (std::string all = parameters_text(route); !all.empty())
      text += "- parameters: " + all + "\n";
    if (!route.body.is_null()) text += "- body: " + members_of(route.body) + "\n";
    text += "- answers: " + answers_text(route) + "\n";
  }
  text += "\n## What is answered\n\n";
  Value schemas = answer_schemas();
  for (const auto& [name, schema] : *schemas.as_object()) add_schema(name, schema, text);
  return text;
}

}  // namespace belay::server
