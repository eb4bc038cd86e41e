#include "service/thread_history.h"

#include "belay/limits.h"
#include "engine/next_task.h"
#include "service/find_run.h"

namespace belay {
namespace {

constexpr std::size_t kRunsAtATime = limits::bounded(20, 2);
constexpr std::size_t kShortId = 8;

Result<RunHistory> commits_of(Snapshot& view, RunRow run, std::optional<std::uint64_t> before,
                              std::size_t limit) {
  RunHistory history;
  CheckpointFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.before_seq = before;
  filter.limit = limit;
  BELAY_TRY(history.checkpoints, view.checkpoints(filter));
  for (const CheckpointRow& row : history.checkpoints) {
    auto next = engine::next_tasks_from(row.next_tasks);
    history.materials.push_back(next.ok() ? value_of(next->materials) : Value());
  }
  history.run = std::move(run);
  return history;
}

Result<std::vector<RunRow>> runs_before(Snapshot& view, const RunRow& run) {
  RunFilter filter;
  filter.tenant = run.tenant;
  filter.thread = run.thread;
  filter.before = run.run;
  filter.without_input = true;
  filter.limit = kRunsAtATime;
  return view.runs(filter);
}

// The run at which a page begins: the named one, that of the last commit of the previous page, or
// the thread's newest.
Result<RunRow> first_run(Snapshot& view, const TenantId& tenant, const HistoryPage& page,
                         const std::string& call) {
  if (page.run) return run_of_thread(view, tenant, page.thread, call, page.run);
  if (page.before_run) return run_of_thread(view, tenant, page.thread, call, page.before_run);
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = page.thread;
  filter.limit = 1;
  BELAY_TRY(std::vector<RunRow> newest, view.runs(filter));
  if (!newest.empty()) return std::move(newest.front());
  return run_of_thread(view, tenant, page.thread, call);
}

}  // namespace

Result<std::vector<RunHistory>> thread_history(Snapshot& view, const TenantId& tenant,
                                               const HistoryPage& page, const std::string& call) {
  std::vector<RunHistory> all;
  BELAY_TRY(RunRow first, first_run(view, tenant, page, call));
  BELAY_TRY(RunHistory newest, commits_of(view, std::move(first), page.before_seq, page.limit));
  std::size_t left = page.limit - std::min(page.limit, newest.checkpoints.size());
  all.push_back(std::move(newest));
  if (page.run) return all;
  RunRow oldest = all.back().run;
  while (left > 0 && oldest.ordinal > 0) {
    BELAY_TRY(std::vector<RunRow> older, runs_before(view, oldest));
    if (older.empty()) return all;
    for (RunRow& run : older) {
      oldest = run;
      if (left == 0) return all;
      BELAY_TRY(RunHistory next, commits_of(view, std::move(run), std::nullopt, left));
      left -= std::min(left, next.checkpoints.size());
      all.push_back(std::move(next));
    }
  }
  return all;
}

std::optional<HistoryEnd> end_of_page(const std::vector<RunHistory>& history, std::size_t limit) {
  std::size_t commits = 0;
  for (const RunHistory& each : history) commits += each.checkpoints.size();
  bool is_full = commits >= limit && !history.empty() && !history.back().checkpoints.empty();
  if (!is_full) return std::nullopt;
  return HistoryEnd{history.back().run.run, history.back().checkpoints.back().seq};
}

std::string short_id(const RunId& run) { return run.text().substr(0, kShortId); }

}  // namespace belay
