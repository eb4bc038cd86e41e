#include "store/run_deletion.h"

#include <algorithm>

#include "belay/limits.h"
#include "belay/storage.h"

namespace belay {
namespace store {
namespace {

// The approximate number of rows of a commit: checkpoint, event, values.
constexpr std::uint64_t rows_of_commit = 4;
constexpr std::uint64_t commits_at_once = limits::bounded(1'000 / rows_of_commit, 2);

Task<Result<Done>> prune_together(Store& store, TenantId tenant, std::vector<PruneRun> runs) {
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.rows.prune = std::move(runs);
  auto outcome = co_await store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

}  // namespace

Task<Result<Done>> delete_runs(Store& store, TenantId tenant, std::vector<EndedRun> runs) {
  std::vector<PruneRun> together;
  std::uint64_t commits = 0;
  for (const EndedRun& run : runs) {
    for (std::uint64_t seq = commits_at_once; seq < run.seq; seq += commits_at_once) {
      std::vector<PruneRun> oldest{{run.run, seq}};
      BELAY_CO_CHECK(co_await prune_together(store, tenant, std::move(oldest)));
    }
    commits += std::min(run.seq, commits_at_once);
    together.push_back({run.run, std::nullopt});
    if (commits < commits_at_once) continue;
    BELAY_CO_CHECK(co_await prune_together(store, tenant, std::move(together)));
    together.clear();
    commits = 0;
  }
  if (!together.empty()) {
    BELAY_CO_CHECK(co_await prune_together(store, tenant, std::move(together)));
  }
  co_return Done{};
}

Result<bool> has_waiting_message(Snapshot& view, const TenantId& tenant, const RunId& run) {
  OutboxFilter waiting;
  waiting.tenant = tenant;
  waiting.run = run;
  waiting.due_by = Instant::max();
  waiting.limit = 1;
  BELAY_TRY(auto messages, view.outbox(waiting));
  return !messages.empty();
}

}  // namespace store

namespace {

using store::EndedRun;

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

Result<Done> check_run(Snapshot& view, const TenantId& tenant, const RunRow& run) {
  const std::string& thread = run.thread.text;
  if (!is_final(run.status)) {
    return error(ErrorCode::conflict, "Thread \"" + thread + "\" cannot be deleted: its run " +
                                          run.run.text() + " is " +
                                          std::string(name_of(run.status)) +
                                          ". Cancel the run, and delete the thread then.");
  }
  BELAY_TRY(bool waits, store::has_waiting_message(view, tenant, run.run));
  if (!waits) return Done{};
  return error(ErrorCode::conflict,
               "Thread \"" + thread + "\" cannot be deleted: a message of its run " +
                   run.run.text() + " waits for its delivery. Deliver or discard it first.");
}

struct EndedThread {
  Instant created_at;
  // Oldest first: the thread keeps its newest run, and with it its state, if the deletion is
  // interrupted.
  std::vector<EndedRun> runs;
};

Result<EndedThread> ended_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  BELAY_TRY(std::optional<ThreadRow> row, find_thread(view, tenant, thread));
  if (!row) {
    return error(ErrorCode::not_found,
                 "Unknown thread \"" + thread.text + "\". List threads with `belay threads`.");
  }
  if (row->preserve) {
    return error(ErrorCode::conflict,
                 "Thread \"" + thread.text + "\" is preserved. Unpreserve it, and delete it then.");
  }
  EndedThread found;
  found.created_at = row->created_at;
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.without_input = true;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto runs, view.runs(filter));
    for (const RunRow& run : runs) {
      BELAY_CHECK(check_run(view, tenant, run));
      found.runs.push_back({run.run, run.seq});
    }
    if (runs.size() < filter.limit) break;
    filter.before = runs.back().run;
  }
  std::reverse(found.runs.begin(), found.runs.end());
  return found;
}

}  // namespace

Task<Result<ThreadDeletion>> delete_thread(Store& store, TenantId tenant, ThreadId thread) {
  std::function<Result<EndedThread>(Snapshot&)> list = [tenant, thread](Snapshot& view) {
    return ended_thread(view, tenant, thread);
  };
  BELAY_CO_TRY(EndedThread ended, co_await read<EndedThread>(store, std::move(list)));
  ThreadDeletion done;
  done.runs = ended.runs.size();
  BELAY_CO_CHECK(co_await store::delete_runs(store, tenant, std::move(ended.runs)));
  // A start, an exemption from pruning, or the retry of a message can have been committed since the
  // read: the store then keeps the runs that it must keep.
  std::function<Result<std::optional<ThreadRow>>(Snapshot&)> look =
      [tenant, thread](Snapshot& view) { return find_thread(view, tenant, thread); };
  BELAY_CO_TRY(std::optional<ThreadRow> left,
               co_await read<std::optional<ThreadRow>>(store, std::move(look)));
  // A thread with another time of creation has been started under the free name.
  if (!left || left->created_at != ended.created_at) co_return done;
  co_return error(ErrorCode::conflict, "Thread \"" + thread.text +
                                           "\" was changed during its deletion and remains, "
                                           "possibly with fewer runs. Delete it again.");
}

}  // namespace belay
