#include "store/thread_reads.h"

namespace belay::store {

Result<std::optional<ThreadRow>> find_thread(Snapshot& view, const TenantId& tenant,
                                             const ThreadId& thread) {
  ThreadFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.threads(filter));
  if (rows.empty()) return std::optional<ThreadRow>();
  return std::optional(std::move(rows.front()));
}

Result<ThreadRow> thread_row(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  BELAY_TRY(std::optional<ThreadRow> found, find_thread(view, tenant, thread));
  if (found) return *std::move(found);
  return error(ErrorCode::not_found, "Unknown thread \"" + thread.text + "\".");
}

}  // namespace belay::store
