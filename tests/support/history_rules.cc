#include "tests/support/history_rules.h"

#include <set>

namespace belay::providers {
namespace {

using Fault = std::optional<std::string>;
using Ids = std::set<std::string, std::less<>>;

std::string text_of(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

const Value::Array& items_of(const Value& value) {
  static const Value::Array empty;
  const Value::Array* items = value.as_array();
  return items ? *items : empty;
}

Fault unanswered(const Ids& open) {
  if (open.empty()) return std::nullopt;
  return "The tool call \"" + *open.begin() + "\" has no result before the next message.";
}

// Registers a call, which must have a new id.
Fault open_call(const std::string& id, Ids& known, Ids& open) {
  if (id.empty()) return "A tool call has no id.";
  if (!known.insert(id).second) return "Two tool calls have the id \"" + id + "\".";
  open.insert(id);
  return std::nullopt;
}

Fault close_call(const std::string& id, Ids& open) {
  if (open.erase(id) == 1) return std::nullopt;
  return "The result \"" + id + "\" follows no tool call of that id.";
}

// Checks the name and the arguments of a call; both are missing in abbreviated conversations.
Fault call_form_fault(const Value& call, const Value& arguments, bool is_text) {
  constexpr std::size_t name_length_max = 64;
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const Value& given = call["name"];
  std::string name = text_of(given);
  bool is_allowed = !name.empty() && name.size() <= name_length_max &&
                    name.find_first_not_of(allowed) == name.npos;
  if (!given.is_null() && !is_allowed) return "The name \"" + name + "\" of a tool is not allowed.";
  if (arguments.is_null()) return std::nullopt;
  if (is_text && !arguments.as_string()) return "The arguments of a call are not a string.";
  if (!is_text && !arguments.as_object()) return "The arguments of a call are not an object.";
  return std::nullopt;
}

Fault openai_fault(const Value::Array& messages) {
  Ids known, open;
  for (const Value& message : messages) {
    std::string role = text_of(message["role"]);
    if (role == "tool") {
      if (auto fault = close_call(text_of(message["tool_call_id"]), open)) return fault;
      continue;
    }
    if (role != "system" && role != "developer" && role != "user" && role != "assistant") {
      return "The role \"" + role + "\" is unknown.";
    }
    if (auto fault = unanswered(open)) return fault;
    const Value::Array& calls = items_of(message["tool_calls"]);
    if (!calls.empty() && role != "assistant") return "Only the assistant can call tools.";
    for (const Value& call : calls) {
      const Value& function = call["function"];
      if (auto fault = call_form_fault(function, function["arguments"], true)) return fault;
      if (auto fault = open_call(text_of(call["id"]), known, open)) return fault;
    }
  }
  return unanswered(open);
}

Fault ollama_fault(const Value::Array& messages) {
  bool has_calls = false;
  for (const Value& message : messages) {
    if (message["role"] == Value("tool")) {
      if (!has_calls) return "A tool message follows no assistant message with tool calls.";
      continue;
    }
    has_calls = message["role"] == Value("assistant") && !items_of(message["tool_calls"]).empty();
    for (const Value& call : items_of(message["tool_calls"])) {
      const Value& function = call["function"];
      if (auto fault = call_form_fault(function, function["arguments"], false)) return fault;
    }
  }
  return std::nullopt;
}

// Checks the blocks of an Anthropic conversation, one after the other.
class Turns {
 public:
  Fault take_message(const Value& message) {
    std::string role = text_of(message["role"]);
    if (role != "user" && role != "assistant") return "The role \"" + role + "\" is unknown.";
    if (role_.empty() && role != "user") return "The first message is not the user's.";
    if (role != role_) {
      if (role == "assistant") {
        if (auto fault = unanswered(open_)) return fault;
      }
      has_text_ = false;
    }
    role_ = role;
    if (const std::string* text = message["content"].as_string()) return take_text(*text);
    if (items_of(message["content"]).empty()) return "A message has no content.";
    for (const Value& block : items_of(message["content"])) {
      if (auto fault = take_block(block)) return fault;
    }
    return std::nullopt;
  }
  Fault end() const { return unanswered(open_); }

 private:
  Fault take_text(const std::string& text) {
    if (text.empty()) return "A text block is empty.";
    has_text_ = true;
    return role_ == "user" ? unanswered(open_) : std::nullopt;
  }

  Fault take_block(const Value& block) {
    std::string type = text_of(block["type"]);
    if (type == "tool_use") {
      if (role_ != "assistant") return "Only the assistant can call tools.";
      if (auto fault = call_form_fault(block, block["input"], false)) return fault;
      return open_call(text_of(block["id"]), known_, open_);
    }
    if (type == "tool_result") {
      if (role_ != "user") return "A result is not in a message of the user.";
      if (has_text_) return "A result follows other content of its turn.";
      return close_call(text_of(block["tool_use_id"]), open_);
    }
    return take_text(type == "text" ? text_of(block["text"]) : type);
  }

  std::string role_;       // of the last message
  bool has_text_ = false;  // the turn has content other than results and calls
  Ids known_, open_;
};

Fault anthropic_fault(const Value::Array& messages) {
  Turns turns;
  for (const Value& message : messages) {
    if (auto fault = turns.take_message(message)) return fault;
  }
  return turns.end();
}

}  // namespace

std::optional<std::string> history_fault(const Value& body, std::string_view protocol) {
  const Value::Array& messages = items_of(body["messages"]);
  if (protocol == "ollama") return ollama_fault(messages);
  if (messages.empty()) return "There are no messages.";
  return protocol == "anthropic" ? anthropic_fault(messages) : openai_fault(messages);
}

}  // namespace belay::providers
