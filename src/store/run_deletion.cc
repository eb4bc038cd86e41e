#include "store/run_deletion.h"

#include <algorithm>

#include "belay/limits.h"
#include "belay/storage.h"
#include "store/thread_reads.h"

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

Result<std::optional<std::vector<EndedRun>>> runs_to_delete(Snapshot& view, const TenantId& tenant,
                                                            const ThreadId& thread,
                                                            const MayDelete& may_delete) {
  std::vector<EndedRun> found;
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.without_input = true;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto runs, view.runs(filter));
    for (const RunRow& run : runs) {
      BELAY_TRY(bool may_go, may_delete(run));
      if (!may_go) return std::optional<std::vector<EndedRun>>();
      found.push_back({run.run, run.seq});
    }
    if (runs.size() < filter.limit) break;
    filter.before = runs.back().run;
  }
  std::reverse(found.begin(), found.end());
  return std::optional(std::move(found));
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

// A run that must remain is the error of the deletion.
Result<bool> may_delete(Snapshot& view, const TenantId& tenant, const RunRow& run) {
  const std::string& thread = run.thread.text;
  if (!is_final(run.status)) {
    return error(ErrorCode::conflict, "Thread \"" + thread + "\" cannot be deleted: its run " +
                                          run.run.text() + " is " +
                                          std::string(name_of(run.status)) +
                                          ". Cancel the run, and delete the thread then.");
  }
  BELAY_TRY(bool waits, store::has_waiting_message(view, tenant, run.run));
  if (!waits) return true;
  return error(ErrorCode::conflict,
               "Thread \"" + thread + "\" cannot be deleted: a message of its run " +
                   run.run.text() + " waits for its delivery. Deliver or discard it first.");
}

struct EndedThread {
  Instant created_at;
  std::vector<EndedRun> runs;
};

// With KeptRuns::newest, without the newest run that has started and those after it, which may
// wait.
Result<EndedThread> ended_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                 KeptRuns kept) {
  BELAY_TRY(ThreadRow row, store::thread_row(view, tenant, thread));
  if (row.preserve) {
    return error(ErrorCode::conflict,
                 "Thread \"" + thread.text + "\" is preserved. Unpreserve it, and delete it then.");
  }
  bool is_kept = kept == KeptRuns::newest;
  std::size_t kept_count = 0;
  BELAY_TRY(auto runs,
            store::runs_to_delete(view, tenant, thread, [&](const RunRow& run) -> Result<bool> {
              if (!is_kept) return may_delete(view, tenant, run);
              ++kept_count;
              is_kept = !has_started(run);
              return true;
            }));
  runs->resize(runs->size() - kept_count);  // the newest are the last
  return EndedThread{row.created_at, *std::move(runs)};
}

}  // namespace

Task<Result<ThreadDeletion>> delete_thread(Store& store, TenantId tenant, ThreadId thread,
                                           KeptRuns kept) {
  std::function<Result<EndedThread>(Snapshot&)> list = [tenant, thread, kept](Snapshot& view) {
    return ended_thread(view, tenant, thread, kept);
  };
  BELAY_CO_TRY(EndedThread ended, co_await read<EndedThread>(store, std::move(list)));
  ThreadDeletion done;
  done.runs = ended.runs.size();
  BELAY_CO_CHECK(co_await store::delete_runs(store, tenant, std::move(ended.runs)));
  if (kept == KeptRuns::newest) co_return done;
  // A start, an exemption from pruning, or the retry of a message can have been committed since the
  // read: the store then keeps the runs that it must keep.
  std::function<Result<std::optional<ThreadRow>>(Snapshot&)> look =
      [tenant, thread](Snapshot& view) { return store::find_thread(view, tenant, thread); };
  BELAY_CO_TRY(std::optional<ThreadRow> left,
               co_await read<std::optional<ThreadRow>>(store, std::move(look)));
  // A thread with another time of creation has been started under the free name.
  if (!left || left->created_at != ended.created_at) co_return done;
  co_return error(ErrorCode::conflict, "Thread \"" + thread.text +
                                           "\" was changed during its deletion and remains, "
                                           "possibly with fewer runs. Delete it again.");
}

}  // namespace belay
