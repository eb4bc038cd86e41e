#pragma once
// goals/goal_operations.h - the operations on goals that routes and commands share.

#include <optional>
#include <string>
#include <vector>

#include "agents/goals/records.h"
#include "belay/service.h"

namespace belay::goals {

inline constexpr const char* kGoalQueue = "goals";

// A user's goals. The service and the principal must outlive the calls.
struct GoalAccess {
  Service& service;
  const Principal& who;
  UserId owner;
};

ThreadId thread_of(const std::string& goal);

// Fails with `not_found`, with the id.
Task<Result<Versioned<Goal>>> find_goal(GoalAccess at, std::string id);
// With a version: fails with `conflict` if the stored goal has another one.
Task<Result<Done>> save_goal(GoalAccess at, Goal goal, std::optional<std::uint64_t> version);
// Applies the changes of apply_changes(), also if others change the goal meanwhile; returns it.
Task<Result<Goal>> change_goal(GoalAccess at, std::string id, Value changes, Instant now);
// Returns the id of the goal that has, or alone begins with, this text.
Task<Result<std::string>> resolve_goal(GoalAccess at, std::string begin);

// A page of the goals, newest first. `next`: that of the page before; empty: the first page.
struct GoalPage {
  std::vector<Goal> goals;
  std::string next;  // empty: it is the last page
};
Task<Result<GoalPage>> list_goals(GoalAccess at, std::string next, std::size_t limit);

// A page of the steps of a run, in order. `after`: the key of the last step of the page before.
struct StepPage {
  std::vector<GoalStep> steps;
  std::string next;
};
Task<Result<StepPage>> list_steps(GoalAccess at, RunId run, std::string after, std::size_t limit);

// Prepares a trigger: limits the queue to one running run, unless it has a limit. Returns the start
// of the run, which waits in the queue for the earlier runs of the goal and then reads the goal.
// `conflict` for a paused goal.
Task<Result<StartRun>> prepare_trigger(GoalAccess at, std::string id);

// Removes the goal with its steps and results. Its thread remains. Fails with `conflict` while a
// run has not ended, unless `cancel`: then its runs are cancelled.
Task<Result<Done>> remove_goal(GoalAccess at, std::string id, bool cancel);

// The newest runs of the goal; none if it was not triggered.
Task<Result<std::vector<RunRow>>> runs_of_goal(GoalAccess at, std::string id,
                                               std::optional<RunId> before, std::size_t limit);

}  // namespace belay::goals
