#include "belay/storage.h"

#include <algorithm>
#include <map>
#include <set>

#include "belay/limits.h"

namespace belay {
namespace {

// The approximate number of rows of a commit: checkpoint, event, values.
constexpr std::uint64_t rows_of_commit = 4;
constexpr std::uint64_t commits_at_once = limits::bounded(1'000 / rows_of_commit, 2);

struct OldRun {
  RunId run;
  ThreadId thread;
  std::uint64_t seq = 0;
};

// A page of runs that ended before the retention time, with the state of their threads.
struct Page {
  std::vector<OldRun> runs;  // of threads that will be deleted
  std::set<std::string> preserved;
  std::optional<RunId> last;  // nullopt if this is the last page
};

// Whether all runs of the thread ended before `before`, and none of their messages waits.
Result<bool> is_over(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                     Instant before) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto runs, view.runs(filter));
    for (const RunRow& run : runs) {
      if (!is_final(run.status) || run.updated_at >= before) return false;
      OutboxFilter waiting;
      waiting.tenant = tenant;
      waiting.run = run.run;
      waiting.due_by = Instant::max();
      waiting.limit = 1;
      BELAY_TRY(auto messages, view.outbox(waiting));
      if (!messages.empty()) return false;
    }
    if (runs.size() < filter.limit) return true;
    filter.before = runs.back().run;
  }
}

Result<bool> is_preserved(Snapshot& view, const TenantId& tenant, const ThreadId& thread) {
  ThreadFilter filter;
  filter.tenant = tenant;
  filter.thread = thread;
  BELAY_TRY(auto rows, view.threads(filter));
  return !rows.empty() && rows.front().preserve;
}

Result<Page> read_page(Snapshot& view, const TenantId& tenant, Instant before,
                       std::optional<RunId> after) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.statuses = {RunStatus::completed, RunStatus::failed, RunStatus::cancelled};
  filter.updated_before = before;
  filter.before = after;
  filter.limit = limits::bounded(100);  // each row contains the run's input
  BELAY_TRY(auto rows, view.runs(filter));
  Page page;
  std::map<std::string, bool> over;
  for (RunRow& row : rows) {
    auto known = over.find(row.thread.text);
    if (known == over.end()) {
      BELAY_TRY(bool is_old, is_over(view, tenant, row.thread, before));
      if (is_old) {
        BELAY_TRY(bool preserve, is_preserved(view, tenant, row.thread));
        if (preserve) page.preserved.insert(row.thread.text);
        is_old = !preserve;
      }
      known = over.emplace(row.thread.text, is_old).first;
    }
    if (known->second) page.runs.push_back({row.run, std::move(row.thread), row.seq});
  }
  if (rows.size() == filter.limit) page.last = rows.back().run;
  return page;
}

Task<Result<Done>> prune(Store& store, TenantId tenant, std::vector<PruneRun> runs) {
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.rows.prune = std::move(runs);
  auto outcome = co_await store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

// Prunes a long run's oldest commits first, so that no single commit deletes all of its rows.
Task<Result<Done>> forget(Store& store, TenantId tenant, std::vector<OldRun> runs) {
  std::vector<PruneRun> together;
  std::uint64_t commits = 0;
  for (const OldRun& run : runs) {
    for (std::uint64_t seq = commits_at_once; seq < run.seq; seq += commits_at_once) {
      std::vector<PruneRun> oldest{{run.run, seq}};
      BELAY_CO_CHECK(co_await prune(store, tenant, std::move(oldest)));
    }
    commits += std::min(run.seq, commits_at_once);
    together.push_back({run.run, std::nullopt});
    if (commits < commits_at_once) continue;
    BELAY_CO_CHECK(co_await prune(store, tenant, std::move(together)));
    together.clear();
    commits = 0;
  }
  if (!together.empty()) BELAY_CO_CHECK(co_await prune(store, tenant, std::move(together)));
  co_return Done{};
}

constexpr std::size_t records_at_once = limits::bounded(200);

// Deletes records that have expired by `now`, or counts a page of them.
Task<Result<std::uint64_t>> forget_records(Store& store, TenantId tenant, bool dry_run,
                                           Instant now) {
  std::uint64_t count = 0;
  while (true) {
    std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader = [tenant,
                                                                          now](Snapshot& view) {
      RecordQuery query;
      query.tenant = tenant;
      query.now = now;
      query.only_expired = true;
      query.limit = records_at_once;
      return view.records(query);
    };
    BELAY_CO_TRY(std::vector<StoredRecord> rows,
                 co_await read<std::vector<StoredRecord>>(store, std::move(reader)));
    if (rows.empty() || dry_run) co_return count + rows.size();
    Commit commit;
    commit.tenant = tenant;
    for (StoredRecord& row : rows) {
      RecordPut put;
      put.collection = std::move(row.collection);
      put.user = std::move(row.user);
      put.key = std::move(row.key);
      put.expected_version = row.version;
      commit.rows.records.push_back(std::move(put));
    }
    BELAY_CO_TRY(CommitOutcome outcome, co_await store.commit(std::move(commit)));
    // Not applied: one of them was saved again meanwhile. The next read finds those that are left.
    if (outcome == CommitOutcome::applied) count += rows.size();
  }
}

}  // namespace

Task<Result<RetentionReport>> apply_retention(Store& store, TenantId tenant, RetentionPolicy policy,
                                              Instant now) {
  Instant before = now - policy.keep_finished;
  std::uint64_t runs = 0;
  std::set<std::string> threads;
  std::set<std::string> preserved;
  std::vector<OldRun> found;
  std::optional<RunId> after;
  while (true) {
    std::function<Result<Page>(Snapshot&)> reader = [tenant, before, after](Snapshot& view) {
      return read_page(view, tenant, before, after);
    };
    BELAY_CO_TRY(Page page, co_await read<Page>(store, std::move(reader)));
    preserved.merge(page.preserved);
    // Deletes a page only after the next one was read: that read starts at the page's last run.
    std::vector<OldRun> due = std::exchange(found, std::move(page.runs));
    if (!policy.dry_run) BELAY_CO_CHECK(co_await forget(store, tenant, std::move(due)));
    runs += found.size();
    for (const OldRun& run : found) threads.insert(run.thread.text);
    if (!page.last) break;
    after = page.last;
  }
  if (!policy.dry_run) BELAY_CO_CHECK(co_await forget(store, tenant, std::move(found)));
  RetentionReport report;
  report.runs = runs;
  report.threads = threads.size();
  report.preserved = preserved.size();
  BELAY_CO_TRY(report.records,
               co_await forget_records(store, std::move(tenant), policy.dry_run, now));
  co_return report;
}

}  // namespace belay
