// Restores runs whose code is gone.

#include "engine/next_task.h"
#include "engine/restore.h"
#include "engine/task_text.h"

namespace belay::engine {
namespace {

// Returns a graph without channels and nodes. Each stored channel is unknown to it, and is kept
// with its version: the chain hash needs no more.
GraphDefinition empty_graph() {
  GraphDefinition graph;
  auto state = std::make_shared<StateType>();
  state->make = [] { return std::shared_ptr<void>(); };
  graph.own_state = state;
  graph.state = state.get();
  return graph;
}

}  // namespace

Result<Run> restore_without_graph(const StoredRun& stored) {
  GraphDefinition unknown = empty_graph();
  BELAY_TRY(Run run, restore_state(unknown, stored));
  BELAY_TRY(NextTasks next, next_tasks_from(tasks_text_of(stored)));
  if (!next.tasks.empty()) run.superstep = next.superstep;
  run.tasks = std::move(next.tasks);
  for (std::size_t i = 0; i < run.tasks.size(); ++i) {
    run.tasks[i].id = task_id(run.row.run, run.checkpoint_ns, run.superstep, next.nodes[i],
                              is_parallel(run) ? std::optional(i) : std::nullopt);
  }
  // Events of completed tasks are written by the commit that ends the run.
  for (const TaskRow& row : stored.tasks) {
    bool is_own = row.checkpoint_ns == run.checkpoint_ns && row.superstep == run.superstep;
    if (is_own) BELAY_CHECK(apply_task_row(row, run));
  }
  run.waits_for_thread = !has_started(stored);
  run.may_have_intents = true;
  return run;
}

}  // namespace belay::engine
