#include "runtime/thread_place.h"

#include <algorithm>

#include "belay/limits.h"

namespace belay {

Result<std::optional<ThreadPlace>> thread_place(Snapshot& view, const GraphRegistry& graphs,
                                                const TenantId& tenant, const ThreadId& thread) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.limit = 1;
  BELAY_TRY(auto newest, view.runs(filter));
  if (newest.empty()) return std::optional<ThreadPlace>();
  ThreadPlace place;
  place.newest = std::move(newest.front());
  BELAY_TRY(RunRow current, current_run(view, tenant, thread));
  if (!is_final(current.status)) {
    place.unfinished = std::move(current);
    ThreadFilter threads;
    threads.tenant = tenant;
    threads.thread = thread;
    threads.limit = 1;
    BELAY_TRY(auto rows, view.threads(threads));
    if (!rows.empty()) place.row = std::move(rows.front());
  } else if (has_started(current)) {
    BELAY_TRY(place.before, left_by(view, graphs, std::move(current)));
  }
  return std::optional(std::move(place));
}

Result<RunRow> first_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.without_input = true;
  filter.limit = 1;
  BELAY_TRY(auto newest, view.runs(filter));
  if (newest.empty()) {
    return error(ErrorCode::not_found, "Unknown thread \"" + thread.text + "\".");
  }
  RunRow first = std::move(newest.front());
  filter.limit = limits::page_rows_max;
  while (first.ordinal > 0) {
    filter.before = first.run;
    BELAY_TRY(auto page, view.runs(filter));
    if (page.empty()) break;
    first = std::move(page.back());
  }
  return first;
}

Result<std::vector<RunRow>> unfinished_runs(Snapshot& view, const TenantId& tenant,
                                            const ThreadId& thread) {
  std::vector<RunRow> unfinished;
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                     RunStatus::quarantined};
  filter.without_input = true;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto page, view.runs(filter));
    bool is_last = page.size() < filter.limit;
    std::move(page.begin(), page.end(), std::back_inserter(unfinished));
    if (is_last) return unfinished;
    filter.before = unfinished.back().run;
  }
}

}  // namespace belay
