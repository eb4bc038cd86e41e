#pragma once
// goals/planner.h - the graph "goal": plans a step, calls its tools, records it, and repeats until
// the goal is reached or its budget is spent; then writes a summary.
//
//     start -> begin -> plan -> act, one task for each call -> record -> plan
//             |          |-> agent_NAME, one task for each call of an agent -> record
//             |          |-> record, if no call is executed     |-> confirm -> extend -> plan
//             |                                                 |-> summarize -> finish -> end
//             |-> end, if the goal is paused or was removed
//
// A run whose input has only the id of the goal reads the stored goal when it begins.
//
// Each transition is a commit: after a crash, neither a reply of the model nor a call whose result
// is committed is repeated. The step is saved as a GoalStep in the commit of `record`.
//
// A run finishes when the model requests no call, or with the last step of its budget, whose calls
// are still executed. Errors of tools, unknown tools and arguments that do not fit are observations
// of the step; the run continues. An error of the model fails the run, except in `summarize`.
//
// Steering messages (belay/service.h) are part of the prompt of the next step, and of all later
// ones. `summarize`, before its request, and `finish`, after the summary, continue a finished run
// with `plan` if messages wait and a step remains.
//
// Outcomes: finished, steps_spent, tokens_spent, cost_spent, goal_paused, goal_removed.

#include <memory>
#include <string>
#include <vector>

#include "agents/goals/goal_run.h"
#include "belay/agent.h"
#include "belay/graph.h"

namespace belay::goals {

inline constexpr std::string_view kGoalGraph = "goal";
inline constexpr std::string_view kPlanPurpose = "goal/plan";        // ModelRequest::purpose
inline constexpr std::string_view kSummaryPurpose = "goal/summary";  // likewise
inline constexpr std::string_view kReadResult = "read_result";       // a tool that every goal has
inline constexpr std::size_t kStepCallsMax = 16;  // of one step; further ones are dropped

// Builds the graph. `agents`: agents that a goal can call like tools, with a question; each call is
// a part of the run. Fails with `invalid` for two tools or agents of one name.
Result<Graph<GoalRun>> goal_graph(std::vector<Tool> tools = {}, std::vector<SubAgent> agents = {});

// Returns the tools of a goal: those of its allowedTools that exist, and read_result.
std::vector<ToolDefinition> tools_of(const ToolRegistry& tools, const GoalParams& params);

// Returns whether the run ends with this step.
bool ends_with(const std::vector<PlannedCall>& calls, int steps_remaining);

}  // namespace belay::goals
