#pragma once
// tests/conformance/graphs/messages.h - messages in LangChain's form, and a channel that has a list
// of them.

#include <string>

#include "belay/json_graph.h"

namespace belay::conformance {

// A list of messages. A write is one message or several: each replaces the message with its id, or
// is appended. A message of type `remove` removes the message with its id, or, with the id
// `__remove_all__`, all before it. A text is a message of a person. `role` is accepted instead of
// `type`. A message without an id gets one that follows from its position and its contents.
JsonChannel messages_channel();

// The reducer of that channel. Throws Failure (`invalid`) for a value that is not a message.
Value with_messages(Value so_far, const Value& written);

// Messages of the agent and of a tool. A node that makes one message names it by its task.
Value agent_message(std::string id, std::string text);
Value tool_message(std::string id, std::string text, std::string call_id);

// The last message of the state; null if it has no message.
const Value& last_message(const Value& state);
// The content of a message; empty if it is not a text.
std::string content_of(const Value& message);

}  // namespace belay::conformance
