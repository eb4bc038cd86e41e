// RunExecutor: runs that cannot continue, because their data is damaged or a record has changed.

#include "engine/advance.h"
#include "engine/restore.h"
#include "worker/run_executor.h"

namespace belay {
namespace {

// A run that cannot be continued: its row and its newest commit.
struct Damaged {
  RunRow row;
  CheckpointRow newest;
};

// Replaces a newest checkpoint that cannot be read: has the row's data and no tasks.
CheckpointRow unreadable_checkpoint(const RunRow& row) {
  CheckpointRow checkpoint;
  checkpoint.id = row.checkpoint;
  checkpoint.run = row.run;
  checkpoint.seq = row.seq;
  checkpoint.state_seq = row.seq;
  checkpoint.node = row.node;
  checkpoint.next_tasks = "[]";
  checkpoint.retry_count = row.retry_count;
  return checkpoint;
}

// Reads only the row of a run and its newest commit, even if its other data is damaged. nullopt if
// the run does not exist any more, has ended, or is quarantined already.
Result<std::optional<Damaged>> damaged_run(Snapshot& view, const TenantId& tenant,
                                           const RunId& run) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  BELAY_TRY(auto rows, view.runs(filter));
  if (rows.empty()) return std::optional<Damaged>();
  RunStatus status = rows.front().status;
  if (is_final(status) || status == RunStatus::quarantined) return std::optional<Damaged>();
  auto newest = newest_checkpoint(view, tenant, run);
  if (!newest.ok() && newest.error().code != ErrorCode::corrupt) return std::move(newest).error();
  if (newest.ok() && !*newest) return error(ErrorCode::corrupt, "The run has no commit.");
  CheckpointRow last = newest.ok() ? **std::move(newest) : unreadable_checkpoint(rows.front());
  return std::optional(Damaged{std::move(rows.front()), std::move(last)});
}

}  // namespace

Task<Result<Done>> RunExecutor::quarantine_or_skip(TenantId tenant, RunId run, Error why) {
  if (why.code == ErrorCode::invalid || why.code == ErrorCode::not_found) co_return Done{};
  if (why.code != ErrorCode::corrupt) co_return why;
  co_return co_await quarantine(std::move(tenant), run, std::move(why.message));
}

// Quarantines a run that cannot be read.
//
// No run continues from such a commit. Therefore the run is read again first: if the damage was
// only in the store's cache, the run is not changed. If a part is damaged that check_readable()
// does not read, the second call quarantines the run.
Task<Result<Done>> RunExecutor::quarantine(TenantId tenant, RunId run, std::string reason) {
  std::function<Result<Done>(Snapshot&)> look = [tenant, run,
                                                 graphs = loader_.graphs()](Snapshot& view) {
    return check_readable(view, *graphs, tenant, run);
  };
  auto readable = co_await read<Done>(parts_.store, std::move(look));
  if (readable.ok() && misread_.insert(run).second) co_return Done{};
  misread_.erase(run);
  std::function<Result<std::optional<Damaged>>(Snapshot&)> reader = [tenant, run](Snapshot& view) {
    return damaged_run(view, tenant, run);
  };
  auto found = co_await read<std::optional<Damaged>>(parts_.store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  if (!*found) co_return Done{};
  engine::Run damaged;
  damaged.row = std::move((*found)->row);
  GraphDefinition unknown;
  engine::Damaged event{moment(), std::move((*found)->newest), std::move(reason)};
  auto next = engine::advance(unknown, std::move(damaged), std::move(event));
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

Task<Result<RunView>> RunExecutor::fail_changed(LoadedRun found) {
  TenantId tenant = found.stored.row.tenant;
  RunId id = found.stored.row.run;
  BELAY_CO_TRY(Definition graph, loader_.graph_of(found.stored));
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found.stored)));
  engine::Event changed = engine::RecordChanged{moment(), true};
  auto next = engine::advance(*graph, std::move(run), std::move(changed));
  if (!next.actions.empty()) {
    Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
    // Not applied if the run was cancelled or claimed meanwhile: it is returned as it is stored.
    auto outcome = co_await parts_.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    live_->wake(id);
  }
  co_return co_await loader_.view(std::move(tenant), id);
}

}  // namespace belay
