#pragma once
// goals/planner_nodes.h - the nodes of the graph "goal", for planner.cc.

#include <memory>
#include <optional>

#include "agents/goals/planner.h"

namespace belay::goals {

// The attempts of a model call.
inline constexpr int kModelAttempts = 3;

struct Planner {
  ToolRegistry tools;            // of the program, and read_result; and the agents
  std::vector<SubAgent> agents;  // that a goal can call like tools
};
using SharedPlanner = std::shared_ptr<const Planner>;

// Returns the tool that reads a part of a GoalResult.
Tool read_result_tool();

// Returns the node that executes the calls of this tool or agent.
std::string node_of_calls(const Planner& planner, std::string_view name);
// The input of an agent for the call at this position of the step, and the end of the call.
AgentState question_of_call(const GoalRun& state, const Value& position);
Update<GoalRun> answer_of_call(const AgentState& agent);

// Stores the text of a large result as a GoalResult, and leaves its beginning.
void store_if_large(const GoalRun& state, std::size_t index, EndedCall& ended, Context& context);

// Returns the change that continues a finished run with the messages that wait, all of them, and
// with `plan`; nullopt if none waits, or no step remains.
Task<Result<std::optional<Update<GoalRun>>>> next_round(const GoalRun& state, Context& context);

Task<Result<Update<GoalRun>>> begin_run(const GoalRun& state, Context& context);
Task<Result<Update<GoalRun>>> plan_step(SharedPlanner planner, const GoalRun& state,
                                        Context& context);
Task<Result<Update<GoalRun>>> call_planned(SharedPlanner planner, const GoalRun& state,
                                           Context& context);
Update<GoalRun> record_step(const GoalRun& state, Context& context);
Update<GoalRun> extend_limit(const GoalRun& state, Context& context);
// Attempts after kModelAttempts write the summary without the model.
Task<Result<Update<GoalRun>>> summarize(SharedPlanner planner, const GoalRun& state,
                                        Context& context);
Task<Result<Update<GoalRun>>> finish_run(const GoalRun& state, Context& context);

// Returns the request of a step, or of the summary, for the model of the goal. `input` is for
// models that are scripts.
ModelRequest request_to(const GoalRun& state, std::string_view purpose);

}  // namespace belay::goals
