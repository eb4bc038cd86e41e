#include "service/find_run.h"

#include "load/stored_run.h"
#include "store/thread_reads.h"

namespace belay {
namespace {

// The command line adds the command that lists the threads.
Error unknown_thread(const ThreadId& thread) {
  return error(ErrorCode::not_found, "Unknown thread \"" + thread.text + "\".");
}

}  // namespace

Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call, const std::optional<RunId>& run) {
  auto found = run_of(view, tenant, thread, run);
  bool is_absent = !found.ok() && found.error().code == ErrorCode::not_found;
  if (!is_absent) return found;
  // A thread without runs does not exist.
  auto any = run ? current_run(view, tenant, thread) : std::move(found);
  if (!any.ok() && any.error().code == ErrorCode::not_found) return unknown_thread(thread);
  if (!any.ok()) return any;
  return error(ErrorCode::not_found, "Thread \"" + thread.text + "\" has no run \"" + run->text() +
                                         "\". List its runs with `" + call + " threads show " +
                                         thread.text + "`.");
}

Result<FoundThread> find_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                const std::string& call) {
  FoundThread found;
  BELAY_TRY(std::optional<ThreadRow> row, store::find_thread(view, tenant, thread));
  if (!row) return unknown_thread(thread);
  found.thread = *std::move(row);
  BELAY_TRY(found.run, run_of_thread(view, tenant, thread, call));
  return found;
}

Result<std::optional<RunId>> run_ahead_of(Snapshot& view, const RunRow& run) {
  if (has_started(run)) return std::optional<RunId>();
  BELAY_TRY(RunRow current, current_run(view, run.tenant, run.thread));
  if (current.run == run.run || is_final(current.status)) return std::optional<RunId>();
  return std::optional(current.run);
}

}  // namespace belay
