// What earlier processes have recorded of a run's effects, as far as it still matters.

#include <algorithm>

#include "belay/limits.h"
#include "driver/run_driver.h"
#include "graph/call_record.h"

namespace belay {
namespace {

// More tasks than this are read with all others of the run.
constexpr std::size_t tasks_asked_one_by_one = 16;

void add_unfinished(const engine::Run& run, std::vector<TaskId>& tasks) {
  for (const engine::NodeTask& task : run.tasks) {
    if (task.phase == engine::NodeTask::Phase::done) continue;
    tasks.push_back(task.id);
    if (task.inner) add_unfinished(*task.inner, tasks);
  }
}

Result<std::vector<EffectRow>> rows_of(Snapshot& view, const EffectFilter& of_run,
                                       const std::vector<TaskId>& tasks, bool only_these) {
  if (!only_these) return view.effects(of_run);
  std::vector<EffectRow> rows;
  for (const TaskId& task : tasks) {
    EffectFilter filter = of_run;
    filter.task = task;
    BELAY_TRY(auto found, view.effects(filter));
    std::move(found.begin(), found.end(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace

// Of tasks that have ended only what they cost matters, and that on a budget alone. With
// Durability::exit a task that no commit has chosen yet may have had an effect.
Task<Result<Done>> RunDriver::read_journal() {
  std::vector<TaskId> tasks;
  add_unfinished(run_, tasks);
  std::sort(tasks.begin(), tasks.end());
  EffectFilter filter;
  filter.tenant = run_.row.tenant;
  filter.run = run_.row.run;
  filter.limit = limits::superstep_tasks_max;
  bool all_matter = run_.options.durability == Durability::exit;
  bool only_these = !all_matter && !ledger_.is_limited() && tasks.size() <= tasks_asked_one_by_one;
  std::function<Result<std::vector<EffectRow>>(Snapshot&)> reader = [filter, tasks,
                                                                     only_these](Snapshot& view) {
    return rows_of(view, filter, tasks, only_these);
  };
  auto rows = co_await read<std::vector<EffectRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  for (EffectRow& row : *rows) {
    if (ledger_.is_limited()) ledger_.remember(spending_of(row));
    bool matters = all_matter || std::binary_search(tasks.begin(), tasks.end(), row.task);
    if (matters) journal_.remember(std::move(row));
  }
  co_return Done{};
}

}  // namespace belay
