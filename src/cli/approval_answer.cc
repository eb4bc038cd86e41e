#include "cli/approval_answer.h"

#include "base/in_quotes.h"

namespace belay::cli {
namespace {

std::string member_names(const Value& schema) {
  std::string names;
  const Value::Object* members = schema["properties"].as_object();
  for (const auto& [name, member] : members ? *members : Value::Object()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

bool is_text_member(const Value& member) {
  if (!member["enum"].is_null()) return true;
  // A member that can be unset: a text or null.
  const Value::Array* choices = member["anyOf"].as_array();
  if (choices) return std::any_of(choices->begin(), choices->end(), is_text_member);
  const std::string* type = member["type"].as_string();
  return type && *type == "string";
}

}  // namespace

Result<Value> answer_from(const Value& schema, const std::optional<std::string>& whole,
                          const std::vector<std::string>& pairs) {
  if (!whole && pairs.empty()) return Value();
  Value::Object answer;
  if (whole) {
    auto parsed = parse_json(*whole);
    if (!parsed.ok() || !parsed->as_object()) {
      std::string why = parsed.ok() ? "It is not a JSON object." : parsed.error().message;
      return error(ErrorCode::invalid, "Invalid --answer: " + why + " Nothing was decided.");
    }
    answer = std::move(*parsed->as_object());
  }
  for (const std::string& pair : pairs) {
    std::size_t equals = pair.find('=');
    if (equals == pair.npos || equals == 0) {
      return error(ErrorCode::invalid,
                   "--set needs member=value, not " + in_quotes(pair) + ". Nothing was decided.");
    }
    std::string name = pair.substr(0, equals);
    std::string text = pair.substr(equals + 1);
    const Value* member = schema["properties"].find(name);
    if (!member) {
      return error(ErrorCode::invalid, "The answer has no member " + in_quotes(name) + ": it has " +
                                           member_names(schema) + ". Nothing was decided.");
    }
    auto value = is_text_member(*member) ? Result<Value>(Value(text)) : parse_json(text);
    if (!value.ok()) {
      return error(ErrorCode::invalid, "The value of " + in_quotes(name) + " is not JSON: " +
                                           value.error().message + " Nothing was decided.");
    }
    answer.insert_or_assign(std::move(name), *std::move(value));
  }
  return Value(std::move(answer));
}

std::vector<std::string> answer_words(const Value& schema) {
  std::vector<std::string> words;
  const Value::Object* members = schema["properties"].as_object();
  for (const auto& [name, member] : members ? *members : Value::Object()) {
    words.emplace_back("--set");
    words.push_back(name + "=...");
  }
  return words;
}

}  // namespace belay::cli
