// Reads the journal rows of a run that earlier processes have written and that can still be needed.

#include <algorithm>

#include "driver/run_driver.h"
#include "graph/call_record.h"
#include "load/all_rows.h"

namespace belay {
namespace {

// Up to this number of tasks, their rows are read task by task; above it, all rows of the run.
constexpr std::size_t tasks_asked_one_by_one = limits::bounded(16, 2);

void add_unfinished(const engine::Run& run, std::vector<TaskId>& tasks) {
  for (const engine::NodeTask& task : run.tasks) {
    if (task.phase == engine::NodeTask::Phase::done) continue;
    tasks.push_back(task.id);
    if (task.inner) add_unfinished(*task.inner, tasks);
  }
}

// Part of a journal that is kept in memory: rows that tasks might need, and the cost of all calls.
struct KeptJournal {
  std::vector<EffectRow> rows;
  Spending spending;
};

Result<KeptJournal> read_rows(Snapshot& view, const EffectFilter& of_run,
                              const std::vector<TaskId>& tasks, bool only_these, bool all_matter) {
  KeptJournal kept;
  Ledger ledger{Budget{}};
  auto keep = [&](EffectRow row) {
    if (!only_these) ledger.remember(spending_of(row));
    bool matters = all_matter || std::binary_search(tasks.begin(), tasks.end(), row.task);
    if (matters) kept.rows.push_back(std::move(row));
  };
  if (!only_these) {
    BELAY_CHECK(for_each_effect(view, of_run, keep));
  }
  for (const TaskId& task : only_these ? tasks : std::vector<TaskId>()) {
    EffectFilter filter = of_run;
    filter.task = task;
    BELAY_CHECK(for_each_effect(view, std::move(filter), keep));
  }
  kept.spending = ledger.spending();
  return kept;
}

}  // namespace

// Rows of completed tasks matter only for their cost, if the run has a budget. With
// Durability::exit all rows matter: a task that no commit has scheduled yet might already have had
// an effect.
Task<Result<Done>> RunDriver::read_journal() {
  std::vector<TaskId> tasks;
  add_unfinished(run_, tasks);
  std::sort(tasks.begin(), tasks.end());
  EffectFilter filter;
  filter.tenant = run_.row.tenant;
  filter.run = run_.row.run;
  bool all_matter = run_.options.durability == Durability::exit;
  bool only_these = !all_matter && !ledger_.is_limited() && tasks.size() <= tasks_asked_one_by_one;
  std::function<Result<KeptJournal>(Snapshot&)> reader = [filter, tasks, only_these,
                                                          all_matter](Snapshot& view) {
    return read_rows(view, filter, tasks, only_these, all_matter);
  };
  auto kept = co_await read<KeptJournal>(parts_.store, std::move(reader));
  if (!kept.ok()) co_return std::move(kept).error();
  if (ledger_.is_limited()) ledger_.remember(kept->spending);
  for (EffectRow& row : kept->rows) journal_.remember(std::move(row));
  co_return Done{};
}

}  // namespace belay
