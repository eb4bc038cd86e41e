#include "server/body.h"

#include "http/ascii.h"

namespace belay::server {

bool is_json_type(std::string_view type) {
  std::string_view kind = http::trimmed(type.substr(0, type.find(';')));
  if (http::equal_letters(kind, "application/json")) return true;
  constexpr std::string_view suffix = "+json";
  return kind.size() > suffix.size() &&
         http::equal_letters(kind.substr(kind.size() - suffix.size()), suffix);
}

Result<Done> check_body(const Value& body, const Value& schema) {
  const Value::Object* members = body.as_object();
  if (!members) {
    return error(ErrorCode::invalid, "The body must be a JSON object, but is of kind " +
                                         std::string(body.kind()) + ".");
  }
  const Value::Object* known = schema["properties"].as_object();
  for (const auto& [name, member] : *members) {
    if (known && !known->contains(name)) {
      return error(ErrorCode::invalid, "The body has an unknown member \"" + name + "\".");
    }
  }
  const Value::Array* required = schema["required"].as_array();
  if (!required) return Done{};
  for (const Value& each : *required) {
    const std::string& name = *each.as_string();
    auto found = members->find(name);
    if (found == members->end() || found->second.is_null()) {
      return error(ErrorCode::invalid, "The body lacks the member \"" + name + "\".");
    }
  }
  return Done{};
}

}  // namespace belay::server
