#include "belay/storage.h"

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "belay/limits.h"
#include "store/run_deletion.h"
#include "store/thread_reads.h"

namespace belay {
namespace {

using store::EndedRun;

// Names of threads: those that were deleted, or would be without `dry_run`. Shared with readers,
// which can end after the coroutine was destroyed.
using Names = std::shared_ptr<std::set<std::string>>;

// The threads of a page that will be deleted, and where the next page begins.
template <typename Place>
struct Page {
  std::vector<EndedRun> runs;  // of these threads, each one's oldest first
  std::vector<std::string> threads;
  std::set<std::string> preserved;
  std::optional<Place> last;       // of the page; nullopt if it is the last page
  std::optional<Place> last_kept;  // the last row that is not of one of these threads
};

// Adds the runs of the thread to the page if the thread will be deleted; returns whether it will.
template <typename Place>
Result<bool> look_at(Snapshot& view, const TenantId& tenant, const ThreadId& thread, Instant before,
                     Page<Place>& page) {
  auto is_over = [&](const RunRow& run) -> Result<bool> {
    if (!is_final(run.status) || run.updated_at >= before) return false;
    BELAY_TRY(bool waits, store::has_waiting_message(view, tenant, run.run));
    return !waits;
  };
  BELAY_TRY(auto runs, store::runs_to_delete(view, tenant, thread, is_over));
  if (!runs || runs->empty()) return false;
  BELAY_TRY(std::optional<ThreadRow> row, store::find_thread(view, tenant, thread));
  if (row && row->preserve) {
    page.preserved.insert(thread.text);
    return false;
  }
  page.runs.insert(page.runs.end(), runs->begin(), runs->end());
  page.threads.push_back(thread.text);
  return true;
}

// Reads a page of runs that ended before the retention time, with the state of their threads.
Result<Page<RunId>> read_runs(Snapshot& view, const TenantId& tenant, Instant before,
                              const std::optional<RunId>& after, const Names& deleted) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.statuses = {RunStatus::completed, RunStatus::failed, RunStatus::cancelled};
  filter.updated_before = before;
  filter.before = after;
  filter.without_input = true;
  filter.limit = limits::bounded(100);
  BELAY_TRY(auto rows, view.runs(filter));
  Page<RunId> page;
  std::map<std::string, bool> goes;
  for (const RunRow& row : rows) {
    auto known = goes.find(row.thread.text);
    if (known == goes.end()) {
      // A thread that has been handled and still has runs was changed meanwhile.
      bool is_new = !deleted->contains(row.thread.text);
      bool is_deleted = false;
      if (is_new) {
        BELAY_TRY(is_deleted, look_at(view, tenant, row.thread, before, page));
      }
      known = goes.emplace(row.thread.text, is_deleted).first;
    }
    if (!known->second) page.last_kept = row.run;
  }
  if (rows.size() == filter.limit) page.last = rows.back().run;
  return page;
}

// Reads a page of threads whose expires_at has passed.
Result<Page<ThreadId>> read_threads(Snapshot& view, const TenantId& tenant, Instant now,
                                    const std::optional<ThreadId>& after, const Names& deleted) {
  ThreadFilter filter;
  filter.tenant = tenant;
  filter.before = after;
  filter.limit = limits::bounded(100);
  BELAY_TRY(auto rows, view.threads(filter));
  Page<ThreadId> page;
  for (const ThreadRow& row : rows) {
    bool has_expired = row.expires_at != Instant{} && row.expires_at <= now;
    bool is_new = has_expired && !deleted->contains(row.thread.text);
    bool goes = false;
    if (is_new) {
      BELAY_TRY(goes, look_at(view, tenant, row.thread, Instant::max(), page));
    }
    if (!goes) page.last_kept = row.thread;
  }
  if (rows.size() == filter.limit) page.last = rows.back().thread;
  return page;
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

template <typename Place>
using ReadPage = std::function<Result<Page<Place>>(Snapshot&, const std::optional<Place>& after)>;

// Deletes the threads of all pages. Returns the number of their runs.
template <typename Place>
Task<Result<std::uint64_t>> forget_pages(Store& store, TenantId tenant, ReadPage<Place> read_page,
                                         bool dry_run, Names deleted, Names preserved) {
  std::optional<Place> after;
  std::uint64_t runs = 0;
  while (true) {
    std::function<Result<Page<Place>>(Snapshot&)> reader = [read_page, after](Snapshot& view) {
      return read_page(view, after);
    };
    BELAY_CO_TRY(Page<Place> page, co_await read<Page<Place>>(store, std::move(reader)));
    deleted->insert(page.threads.begin(), page.threads.end());
    preserved->merge(page.preserved);
    runs += page.runs.size();
    if (!dry_run) BELAY_CO_CHECK(co_await store::delete_runs(store, tenant, std::move(page.runs)));
    if (!page.last) co_return runs;
    // The next page begins after a row that exists.
    if (dry_run) {
      after = page.last;
    } else if (page.last_kept) {
      after = page.last_kept;
    }
  }
}

}  // namespace

Task<Result<RetentionReport>> apply_retention(Store& store, TenantId tenant, RetentionPolicy policy,
                                              Instant now) {
  Instant before = now - policy.keep_finished;
  RetentionReport report;
  auto deleted = std::make_shared<std::set<std::string>>();
  auto preserved = std::make_shared<std::set<std::string>>();
  ReadPage<ThreadId> expired = [tenant, now, deleted](Snapshot& view, const auto& after) {
    return read_threads(view, tenant, now, after, deleted);
  };
  BELAY_CO_TRY(std::uint64_t runs,
               co_await forget_pages<ThreadId>(store, tenant, std::move(expired), policy.dry_run,
                                               deleted, preserved));
  ReadPage<RunId> over = [tenant, before, deleted](Snapshot& view, const auto& after) {
    return read_runs(view, tenant, before, after, deleted);
  };
  BELAY_CO_TRY(report.runs, co_await forget_pages<RunId>(store, tenant, std::move(over),
                                                         policy.dry_run, deleted, preserved));
  report.runs += runs;
  report.threads = deleted->size();
  report.preserved = preserved->size();
  BELAY_CO_TRY(report.records,
               co_await forget_records(store, std::move(tenant), policy.dry_run, now));
  co_return report;
}

}  // namespace belay
