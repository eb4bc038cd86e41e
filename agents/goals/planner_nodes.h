#pragma once
// goals/planner_nodes.h - the nodes of the graph "goal", for planner.cc.

#include <memory>

#include "agents/goals/planner.h"

namespace belay::goals {

// The attempts of a model call.
inline constexpr int kModelAttempts = 3;

struct Planner {
  ToolRegistry tools;  // of the program, and read_result
};
using SharedPlanner = std::shared_ptr<const Planner>;

// Returns the tool that reads a part of a GoalResult.
Tool read_result_tool();

Result<Update<GoalRun>> begin_run(const GoalRun& state, Context& context);
Task<Result<Update<GoalRun>>> plan_step(SharedPlanner planner, const GoalRun& state,
                                        Context& context);
Task<Result<Update<GoalRun>>> call_planned(SharedPlanner planner, const GoalRun& state,
                                           Context& context);
Update<GoalRun> record_step(const GoalRun& state, Context& context);
Update<GoalRun> extend_limit(const GoalRun& state, Context& context);
// Attempts after kModelAttempts write the summary without the model.
Task<Result<Update<GoalRun>>> summarize(SharedPlanner planner, const GoalRun& state,
                                        Context& context);

// Returns the request of a step, or of the summary, for the model of the goal. `input` is for
// models that are scripts.
ModelRequest request_to(const GoalRun& state, std::string_view purpose);

}  // namespace belay::goals
