#pragma once
// tests/support/history_rules.h - the rules by which a provider rejects a conversation
//
// A scripted server accepts any list of messages, and hides a history that the real provider
// answers with 400.

#include <optional>
#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::providers {

// Returns the violated rule of a request's body; nullopt if the conversation is acceptable.
// `protocol` is "openai", "anthropic" or "ollama".
//
// - openai: each tool call is answered by exactly one tool message, before any other message;
//   there is no other tool message; ids are unique.
// - anthropic: the first message is the user's; the user's next turn begins with the results of all
//   tool_use blocks of a turn, and has no others. Adjacent messages of one role are one turn.
// - ollama: tool messages follow an assistant message with tool_calls.
// - all: the names of called tools consist of 1 to 64 letters, digits, _ and -; their arguments are
//   a string (openai) or an object.
std::optional<std::string> history_fault(const Value& body, std::string_view protocol);

}  // namespace belay::providers
