// Deletes the runs that a start rolls back.

#include "runtime/run_starts.h"

namespace belay {

Task<Result<Done>> RunStarts::delete_runs(TenantId tenant, std::vector<RunRow> runs) {
  Commit commit;
  commit.tenant = tenant;
  for (const RunRow& row : runs) commit.rows.prune.push_back({row.run, std::nullopt});
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  for (const RunRow& row : runs) {
    std::function<Result<RunRow>(Snapshot&)> reader = [tenant, run = row.run](Snapshot& view) {
      return run_row(view, tenant, run);
    };
    auto left = co_await read<RunRow>(parts_.store, std::move(reader));
    if (!left.ok() && left.error().code == ErrorCode::not_found) continue;
    if (!left.ok()) co_return std::move(left).error();
    co_return error(ErrorCode::conflict,
                    "Run " + row.run.text() + " of thread \"" + row.thread.text +
                        "\" was cancelled, and cannot be rolled back: its thread is preserved, or "
                        "messages of the run are waiting for their delivery.");
  }
  co_return Done{};
}

}  // namespace belay
