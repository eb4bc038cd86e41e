// The node `finish`, and further rounds of a finished run: steering messages that come after the
// last step, or that wait for the end of the steps.

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"
#include "belay/agent.h"
#include "belay/service.h"

namespace belay::goals {
namespace {

bool has_round(const GoalRun& state) {
  return state.outcome == "finished" && state.step < state.goal.params.stepBudget;
}

// Without the summary, which the next one replaces.
Update<GoalRun> continued(const GoalRun& state, std::string text) {
  std::vector<MemoryEntry> memory = state.memory;
  std::erase_if(memory, [](const MemoryEntry& entry) { return entry.key == kSummaryKey; });
  UsedMessage used{state.step + 1, storable_text(text)};
  auto update = append(&GoalRun::messages, std::move(used))
                    .set(&GoalRun::outcome, "")
                    .set(&GoalRun::summary, "");
  if (memory.size() != state.memory.size()) {
    update = std::move(update).set(&GoalRun::memory, std::move(memory));
  }
  return std::move(update).go_to("plan");
}

}  // namespace

Task<Result<std::optional<Update<GoalRun>>>> next_round(const GoalRun& state, Context& context) {
  std::optional<Update<GoalRun>> round;
  // The model could not be called again: the messages stay unused.
  if (!has_round(state)) co_return std::move(round);
  auto waiting = co_await waiting_messages(context, true);
  if (!waiting.ok()) co_return std::move(waiting).error();
  if (waiting->empty()) co_return std::move(round);
  use_messages(*waiting, state.step + 1, context);
  round = continued(state, steering_text(*waiting));
  co_return std::move(round);
}

Task<Result<Update<GoalRun>>> finish_run(const GoalRun& state, Context& context) {
  context.outcome(state.outcome);
  auto round = co_await next_round(state, context);
  if (!round.ok()) co_return std::move(round).error();
  if (*round) co_return **std::move(round);
  co_return unchanged<GoalRun>();
}

}  // namespace belay::goals
