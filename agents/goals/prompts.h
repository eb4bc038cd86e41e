#pragma once
// goals/prompts.h - the prompts of the planner. Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "agents/goals/goal_run.h"

namespace belay::goals {

inline constexpr std::size_t kShownSteps = 3;             // in the prompt of a step
inline constexpr std::int64_t kStepObservation = 500;     // characters, in the prompt of a step
inline constexpr std::int64_t kSummaryObservation = 200;  // in the prompt of the summary
inline constexpr std::int64_t kShownThought = 2'000;      // in both
inline constexpr double kSummaryTemperature = 0.7;        // factor

// `steps_remaining`: after the step that is being planned.
std::string system_prompt(std::string_view objective, const std::vector<ToolDefinition>& tools,
                          int steps_remaining, std::string_view memory);
std::string user_prompt(const std::vector<ShownStep>& history);
std::string summary_prompt(std::string_view objective, const std::vector<ShownStep>& history,
                           std::string_view memory);

}  // namespace belay::goals
