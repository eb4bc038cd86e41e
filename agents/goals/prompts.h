#pragma once
// goals/prompts.h - the prompts of the planner. Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "agents/goals/goal_run.h"

namespace belay::goals {

inline constexpr std::size_t kShownSteps = 3;                // in the prompt of a step
inline constexpr std::int64_t kStepObservation = 500;        // characters, in the prompt of a step
inline constexpr std::int64_t kSummaryObservation = 200;     // in the prompt of the summary
inline constexpr std::int64_t kShownThought = 2'000;         // in both
inline constexpr std::size_t kMessagesBytesMax = 64 * 1024;  // of messages before the newest
inline constexpr double kSummaryTemperature = 0.7;           // factor

// `steps_remaining`: after the step that is being planned.
std::string system_prompt(std::string_view objective, const std::vector<ToolDefinition>& tools,
                          int steps_remaining, std::string_view memory);
// The newest message is part of the prompt in whole; the oldest others are left out, if they are
// larger than kMessagesBytesMax.
std::string user_prompt(const std::vector<ShownStep>& history,
                        const std::vector<UsedMessage>& messages);
std::string summary_prompt(std::string_view objective, const std::vector<ShownStep>& history,
                           const std::vector<UsedMessage>& messages, std::string_view memory);

}  // namespace belay::goals
