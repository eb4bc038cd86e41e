#pragma once
// conversation/agent_turns.h - the entries of a state of an agent with tools (belay/agent.h).
//
// Threading: any thread.

#include <string_view>
#include <vector>

#include "conversation/conversation.h"

namespace belay::conversation {

// Returns whether the state is an AgentState, by its members.
bool is_agent_state(const Value& state);

// See rule 3 of conversation.h. Damaged turns and calls are left out.
std::vector<ChatEntry> turn_entries(std::string_view thread, const Value& state, bool ended);

}  // namespace belay::conversation
