#include "service/find_run.h"

namespace belay {

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
               "Unknown thread \"" + thread.text + "\". List threads with `" + call + " threads`.");
}

}  // namespace belay
