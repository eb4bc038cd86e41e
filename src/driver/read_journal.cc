// Reads the rows of a run that earlier processes have written and that can still be needed.

#include <algorithm>

#include "driver/run_driver.h"
#include "engine/restore.h"
#include "engine/run_queries.h"
#include "graph/call_record.h"
#include "load/all_rows.h"
#include "load/stored_run.h"

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

Task<Result<Done>> RunDriver::read_records() {
  BELAY_CO_CHECK(co_await read_journal());
  // A decision might have been recorded while the run was queued or had another owner. Only its
  // approval row was written then, and this owner must apply it.
  if (engine::has_open_interrupts(run_)) BELAY_CO_CHECK(co_await find_decided());
  co_return Done{};
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::read_claimed() {
  std::function<Result<engine::StoredRun>(Snapshot&)> reader =
      [graphs = graphs_, tenant = run_.row.tenant,
       run = run_.row.run](Snapshot& view) -> Result<engine::StoredRun> {
    BELAY_TRY(RunRow row, run_row(view, tenant, run));
    return stored_run(view, *graphs, std::move(row));
  };
  auto stored = co_await read<engine::StoredRun>(parts_.store, std::move(reader));
  if (!stored.ok()) co_return std::move(stored).error();
  bool is_ours = stored->row.epoch == run_.row.epoch && stored->row.seq == run_.row.seq;
  if (!is_ours) co_return std::optional(End::fenced);
  Instant working_since = run_.working_since;
  BELAY_CO_TRY(run_, engine::restore(*graph_, *std::move(stored)));
  run_.working_since = working_since;
  BELAY_CO_CHECK(co_await read_records());
  // The event of the claim's commit, which must not pause the run before a decision that was found.
  std::get<engine::Committed>(inbox_.front()).more = is_decision_waiting();
  co_return std::optional<End>();
}

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
