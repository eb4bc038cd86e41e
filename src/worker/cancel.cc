// RunExecutor: cancels of runs, with their code or without it.

#include "engine/advance.h"
#include "engine/restore.h"
#include "worker/run_executor.h"

namespace belay {
namespace {

Error ended_otherwise(const RunRow& row) {
  return error(ErrorCode::conflict, "Thread \"" + row.thread.text + "\" has already " +
                                        std::string(name_of(row.status)) + ".");
}

// Returns the commit that cancels the run. No graph is needed for it: a run whose code is gone, or
// that its graph cannot continue, must not block its thread until a program has its code again.
Result<Commit> cancelling_commit(const RunLoader& loader, const engine::StoredRun& stored,
                                 engine::Cancelled event) {
  const GraphDefinition unknown;
  const GraphDefinition* known = &unknown;
  auto graph = loader.graph_of(stored);
  Result<engine::Run> run = graph.ok() ? engine::restore(**graph, stored) : graph.error();
  if (run.ok()) {
    known = graph->get();
  } else if (run.error().code != ErrorCode::corrupt) {
    event.lacks_code = true;
    run = engine::restore_without_graph(stored);
  }
  if (!run.ok()) return std::move(run).error();
  auto next = engine::advance(*known, *std::move(run), std::move(event));
  BELAY_ASSERT(next.actions.size() == 1);
  return std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
}

}  // namespace

Task<Result<RunView>> RunExecutor::cancel(TenantId tenant, ThreadId thread, std::string by,
                                          std::string on_behalf_of, std::optional<RunId> run_id,
                                          std::optional<std::uint64_t> only_at) {
  BELAY_CO_CHECK(check_name("canceller name", by));
  if (!on_behalf_of.empty()) {
    BELAY_CO_CHECK(check_name("\"on behalf of\" name", on_behalf_of));
  }
  while (true) {
    auto found = co_await loader_.load_thread(tenant, thread, std::nullopt, run_id);
    if (!found.ok()) co_return std::move(found).error();
    const RunRow& row = found->stored.row;
    run_id = row.run;
    if (only_at && row.seq != *only_at) {
      co_return error(ErrorCode::conflict, "The run has continued. Try again.");
    }
    if (row.status == RunStatus::cancelled) co_return loader_.view_of(*std::move(found));
    if (is_final(row.status)) co_return ended_otherwise(row);
    RunId id = row.run;
    bool is_worked_on = row.status == RunStatus::running && driven_.contains(id);
    if (row.status == RunStatus::running && !is_worked_on && row.session != session_) {
      BELAY_CO_TRY(is_worked_on, parts_.store.is_alive(row.session));
    }
    engine::Cancelled event{moment(), by, on_behalf_of, is_worked_on};
    BELAY_CO_TRY(Commit commit, cancelling_commit(loader_, found->stored, std::move(event)));
    auto outcome = co_await parts_.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (*outcome != CommitOutcome::applied) continue;  // the run changed since it was read
    // Durable from here on. A driver in this process stops immediately; an owner in another process
    // is fenced at its next commit, or detects the new epoch while it waits.
    for (RunDriver* driver : drivers_of(id)) driver->abandon();
    live_->wake(id);
    co_return co_await loader_.view(tenant, id);
  }
}

}  // namespace belay
