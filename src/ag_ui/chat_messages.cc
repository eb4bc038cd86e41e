#include "ag_ui/chat_messages.h"

#include <algorithm>

namespace belay::ag_ui {
namespace {

using conversation::Author;
using conversation::ChatEntry;

std::string_view role_of(Author author) {
  switch (author) {
    case Author::person:
      return "user";
    case Author::agent:
      return "assistant";
    case Author::tool:
      return "tool";
    case Author::system:
      return "system";
  }
  return "assistant";
}

Value call_list(const std::vector<conversation::ChatCall>& calls) {
  Value::Array list;
  for (const conversation::ChatCall& call : calls) {
    Value function = Value::object({{"name", call.tool}, {"arguments", to_json(call.arguments)}});
    list.push_back(
        Value::object({{"id", call.id}, {"type", "function"}, {"function", std::move(function)}}));
  }
  return Value(std::move(list));
}

}  // namespace

Value chat_message(const ChatEntry& entry) {
  Value::Object message{{"id", entry.id}, {"role", role_of(entry.author)}};
  bool is_calls_only = entry.author == Author::agent && entry.text.empty();
  if (!is_calls_only) message.emplace("content", entry.text);
  if (entry.author == Author::tool) {
    message.emplace("toolCallId", entry.call_id);
    if (entry.is_error) message.emplace("error", entry.text);
  }
  if (!entry.calls.empty()) message.emplace("toolCalls", call_list(entry.calls));
  return Value(std::move(message));
}

Value chat_messages(const std::vector<ChatEntry>& entries) {
  auto is_of_person = [](const ChatEntry& entry) { return entry.author == Author::person; };
  if (std::none_of(entries.begin(), entries.end(), is_of_person)) return Value();
  Value::Array messages;
  for (const ChatEntry& entry : entries) messages.push_back(chat_message(entry));
  return Value(std::move(messages));
}

}  // namespace belay::ag_ui
