#pragma once
// agent/conversation.h - texts of a conversation for missing results and answers. Constant: a
// request begins with the bytes of the previous one.

#include <string_view>
#include <vector>

#include "belay/agent.h"

namespace belay::agents {

inline constexpr std::string_view no_result =
    "There is no result: the run ended before this call, or before its result was recorded. "
    "If it matters whether the call happened, find out before you repeat it.";
inline constexpr std::string_view no_answer = "(The run ended without an answer.)";
inline constexpr std::string_view empty_answer = "(The answer was empty.)";

// Adds a note to the conversation: to its last message if that is one of the user.
void add_to_question(std::vector<Message>& messages, std::string_view text);

// The first entry of the turns of the current question.
std::size_t question_begin(const AgentState& state);

}  // namespace belay::agents
