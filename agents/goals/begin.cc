// The node `begin`: reads the goal, and clears the state of the run before it.

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"

namespace belay::goals {

// Not in the unnamed namespace, because the codec reads the names of its members.
// The stored goal as a run has found it.
struct FoundGoal {
  GoalInput goal{};
  std::string outcome{};  // of the run, if the goal cannot be pursued; empty: it can
};

namespace {

// The memory that a run of mode `carry` reads: that of the run before it, within its bound. Its
// summary is an entry: a run that ended without a step since then has no other one.
LastRun last_run_of(const GoalRun& state, Context& context) {
  LastRun last;
  std::vector<MemoryEntry> entries = state.memory;
  for (const MemoryEntry& entry : entries) {
    if (entry.key == kSummaryKey) last.summary = first_characters(entry.text, kCarriedSummaryMax);
  }
  std::erase_if(entries, [](const MemoryEntry& entry) { return entry.key == kSummaryKey; });
  FittedMemory fitted = fit_memory(std::move(entries), state.omitted, kCarriedBytesMax,
                                   context.run().text() + "-last_");
  for (MovedResult& moved : fitted.moved) {
    std::int64_t characters = count_characters(moved.text);
    context.save(GoalResult{std::move(moved.id), state.goal.id, context.run().text(),
                            std::move(moved.text), characters, context.now()});
  }
  last.entries = std::move(fitted.entries);
  last.omitted = fitted.omitted;
  return last;
}

Result<Done> check_goal_of_run(const GoalInput& goal) {
  if (goal.params.stepBudget >= 1 && goal.params.stepBudget <= kStepBudgetMax) return Done{};
  return error(ErrorCode::invalid, "Invalid stepBudget: expected 1 to " +
                                       std::to_string(kStepBudgetMax) + ". Edit the goal.");
}

FoundGoal found_goal(const std::string& id, const std::optional<Goal>& stored) {
  FoundGoal found;
  found.goal.id = id;
  if (!stored) {
    found.outcome = "goal_removed";
  } else {
    found.goal = {id, stored->objective, stored->params, stored->memory};
    if (stored->status == kPaused) found.outcome = "goal_paused";
  }
  return found;
}

// Returns the state of a run without steps. The memory of the run before it remains.
Update<GoalRun> cleared(GoalInput goal) {
  return set(&GoalRun::goal, std::move(goal))
      .set(&GoalRun::outcome, "")
      .set(&GoalRun::summary, "")
      .set(&GoalRun::summaryId, "")
      .set(&GoalRun::step, 0)
      .set(&GoalRun::thought, "")
      .set(&GoalRun::messageId, "")
      .set(&GoalRun::fault, "")
      .set(&GoalRun::calls, {})
      .set(&GoalRun::results, {})
      .set(&GoalRun::history, {})
      .set(&GoalRun::messages, {})
      .set(&GoalRun::tokens, 0)
      .set(&GoalRun::notice, "")
      .set(&GoalRun::startedAt, Instant{});
}

Result<Update<GoalRun>> begun(const GoalRun& state, GoalInput goal, Context& context) {
  BELAY_CHECK(check_goal_of_run(goal));
  bool is_carried = goal.memory == kCarry;
  LastRun last;
  if (is_carried) last = last_run_of(state, context);
  std::int64_t token_limit = goal.params.tokenLimit.value_or(0);
  return cleared(std::move(goal))
      .set(&GoalRun::last, std::move(last))
      .set(&GoalRun::untrusted, is_carried && state.untrusted)
      .set(&GoalRun::memory, {})
      .set(&GoalRun::omitted, 0)
      .set(&GoalRun::tokenLimit, token_limit)
      .go_to("plan");
}

}  // namespace

Task<Result<Update<GoalRun>>> begin_run(const GoalRun& state, Context& context) {
  GoalInput goal = state.goal;
  if (goal.id.empty()) {
    co_return error(ErrorCode::invalid,
                    "A run of this agent needs a goal. Trigger one with `belay goals trigger ID`.");
  }
  if (goal.objective.empty()) {
    std::string id = goal.id;
    auto stored = co_await context.records().get<Goal>(std::move(id));
    if (!stored.ok()) co_return std::move(stored).error();
    // Recorded: a replay begins with the goal of that time.
    FoundGoal found = context.keyed_effect("goal", [&]() { return found_goal(goal.id, *stored); });
    if (!found.outcome.empty()) {
      context.outcome(found.outcome);
      std::string outcome = std::move(found.outcome);
      co_return cleared(std::move(found.goal)).set(&GoalRun::outcome, std::move(outcome));
    }
    goal = std::move(found.goal);
  }
  co_return begun(state, std::move(goal), context);
}

}  // namespace belay::goals
