#include "tests/conformance/graphs/messages.h"

#include <algorithm>
#include <array>
#include <utility>

namespace belay::conformance {
namespace {

constexpr std::string_view kRemoveAll = "__remove_all__";

std::string text_at(const Value& message, std::string_view member) {
  const std::string* text = message[member].as_string();
  return text ? *text : std::string();
}

// Roles that other libraries use, and the types of LangChain.
std::string type_of_role(const std::string& role) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTypes{
      {{"user", "human"}, {"assistant", "ai"}}};
  for (const auto& [name, type] : kTypes) {
    if (role == name) return std::string(type);
  }
  return role;
}

Value message_of(std::string type, std::string id, std::string text) {
  return Value::object({{"type", std::move(type)},
                        {"id", std::move(id)},
                        {"content", std::move(text)},
                        {"additional_kwargs", Value::Object()},
                        {"response_metadata", Value::Object()}});
}

bool has_id(const Value::Array& messages, const std::string& id) {
  return std::any_of(messages.begin(), messages.end(),
                     [&](const Value& message) { return text_at(message, "id") == id; });
}

// Not random: a reducer has the same result whenever it is applied.
std::string new_id(const Value::Array& before, const Value& message) {
  std::string seed = "message " + std::to_string(before.size()) + " " + to_json(message);
  std::string id = derived_uuid(seed).text();
  while (has_id(before, id)) id = derived_uuid(seed += " again").text();
  return id;
}

// Returns the message with a type, a content and an id. `before`: the messages before it.
Value complete(const Value& given, const Value::Array& before) {
  if (const std::string* text = given.as_string()) {
    return complete(message_of("human", "", *text), before);
  }
  const Value::Object* members = given.as_object();
  if (!members) {
    throw Failure(error(ErrorCode::invalid, "A message is an object or a text, but this one is " +
                                                std::string(given.kind()) + "."));
  }
  Value::Object message = *members;
  std::string type = text_at(given, "type");
  if (type.empty()) type = type_of_role(text_at(given, "role"));
  if (type.empty()) type = "human";
  message.erase("role");
  message.insert_or_assign("type", type);
  message.emplace("content", "");
  message.emplace("additional_kwargs", Value::Object());
  message.emplace("response_metadata", Value::Object());
  if (text_at(given, "id").empty()) message.insert_or_assign("id", new_id(before, given));
  return message;
}

void write_message(Value::Array& messages, const Value& given) {
  Value message = complete(given, messages);
  std::string id = text_at(message, "id");
  bool removes = text_at(message, "type") == "remove";
  if (removes && id == kRemoveAll) return messages.clear();
  auto found = std::find_if(messages.begin(), messages.end(),
                            [&](const Value& held) { return text_at(held, "id") == id; });
  if (removes) {
    if (found != messages.end()) messages.erase(found);
  } else if (found != messages.end()) {
    *found = std::move(message);
  } else {
    messages.push_back(std::move(message));
  }
}

}  // namespace

JsonChannel messages_channel() { return {.kind = JsonKind::array, .reduce = with_messages}; }

Value with_messages(Value so_far, const Value& written) {
  Value::Array messages;
  // The first input of a thread is not reduced: its messages might be without ids.
  if (const Value::Array* held = so_far.as_array()) {
    for (const Value& message : *held) write_message(messages, message);
  }
  if (const Value::Array* several = written.as_array()) {
    for (const Value& message : *several) write_message(messages, message);
  } else {
    write_message(messages, written);
  }
  return messages;
}

Value agent_message(std::string id, std::string text) {
  Value message = message_of("ai", std::move(id), std::move(text));
  message.as_object()->emplace("tool_calls", Value::Array());
  message.as_object()->emplace("invalid_tool_calls", Value::Array());
  return message;
}

Value tool_message(std::string id, std::string text, std::string call_id) {
  Value message = message_of("tool", std::move(id), std::move(text));
  message.as_object()->emplace("tool_call_id", std::move(call_id));
  return message;
}

const Value& last_message(const Value& state) {
  static const Value kNone;
  const Value::Array* messages = state["messages"].as_array();
  return messages && !messages->empty() ? messages->back() : kNone;
}

std::string content_of(const Value& message) { return text_at(message, "content"); }

}  // namespace belay::conformance
