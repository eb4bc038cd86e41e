#pragma once
// agent/turn.h - decides what follows from a reply of the model. Pure functions of the state.

#include <string>
#include <string_view>
#include <vector>

#include "belay/agent.h"

namespace belay::agents {

// The calls of one reply that are kept in the conversation; the others are dropped.
inline constexpr std::size_t turn_calls_max = 64;
// A call is refused after this number of equal ones with equal results.
inline constexpr int equal_calls_max = 2;

// Why the model is asked to answer without a further call.
enum class Limit { none, steps, tokens };

// The limit that the next call of the model reaches.
Limit limit_of(const AgentState& state, const AgentOptions& options);
// The note with which the model is asked to answer; empty for Limit::none.
std::string_view note_of(Limit limit);
std::string_view outcome_of(Limit limit);

// Returns the turn of a reply: its calls have unique ids, and those that must not be executed have
// a fault: of an unknown tool, with arguments that do not fit, of a reply that was cut, or repeated
// without a new result.
AgentTurn turn_of(const ModelReply& reply, const AgentState& state, const ToolRegistry& tools);

// Returns the ids of the calls of the turn that can start now: those without a result, in order,
// within calls_max and the limit of each tool.
std::vector<std::string> next_calls(const AgentTurn& turn,
                                    const std::map<std::string, ToolResult>& results,
                                    const AgentOptions& options, const ToolRegistry& tools);

// Returns the text of a result for the model: well-formed, at most `bytes_max` bytes and a note.
std::string result_text(std::string_view text, std::size_t bytes_max);

// Returns why the arguments do not fit the tool; nullopt if they do.
std::optional<std::string> arguments_fault(const Tool& tool, const Value& arguments);

// Returns the system message of the agent with the instructions of the state; empty: none.
std::string prompt_of(const AgentOptions& options, std::string_view instructions);
// Returns the parts of a request that precede its messages, as JSON.
std::string head_of(const AgentOptions& options, const ToolRegistry& tools,
                    const std::string& prompt);
// Describes the first difference of two heads: {"byte": n, "cause": "tools"}.
Value head_change(const std::string& before, const std::string& now);

}  // namespace belay::agents
