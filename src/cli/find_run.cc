#include "cli/find_run.h"

#include "cli/store_findings.h"

namespace belay::cli {

Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call) {
  ThreadFilter threads;
  threads.tenant = tenant;
  threads.thread = thread;
  BELAY_TRY(std::vector<ThreadRow> found, view.threads(threads));
  if (!found.empty()) {
    RunFilter runs;
    runs.tenant = tenant;
    runs.run = found.front().last_run;
    BELAY_TRY(std::vector<RunRow> rows, view.runs(runs));
    if (!rows.empty()) return std::move(rows.front());
  }
  return error(ErrorCode::not_found,
               "There is no thread \"" + thread.text + "\"; see " + call + " threads.");
}

Task<Result<RunRow>> run_of_thread(World& world, ThreadId thread) {
  std::function<Result<RunRow>(Snapshot&)> reader = [tenant = tenant_of(world), thread,
                                                     call = world.settings.call](Snapshot& view) {
    return run_of_thread(view, tenant, thread, call);
  };
  co_return co_await read<RunRow>(world.store, std::move(reader));
}

Task<Error> with_owner(World& world, ThreadId thread, Error failed) {
  if (failed.code != ErrorCode::conflict) co_return failed;
  auto run = co_await run_of_thread(world, std::move(thread));
  if (!run.ok() || is_final(run->status)) co_return failed;
  auto alive = world.store.is_alive(run->session);
  if (!alive.ok() || !*alive) co_return failed;
  auto process = process_of(world.settings.store, run->session);
  if (process) failed.message += " Its process id is " + std::to_string(*process) + ".";
  co_return failed;
}

}  // namespace belay::cli
