#include "check/read_store.h"

#include <algorithm>
#include <limits>

#include "belay/limits.h"

namespace belay::check {
namespace {

// Threads and runs are listed without a way to go on from a place, so all of them are asked for.
constexpr std::size_t kAll = std::numeric_limits<std::int64_t>::max();

Result<Done> list_runs(Snapshot& view, const TenantId& tenant, std::vector<RunStatus> statuses,
                       std::vector<ListedRun>& runs) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.statuses = std::move(statuses);
  filter.limit = kAll;
  BELAY_TRY(auto rows, view.runs(filter));
  for (RunRow& row : rows) {
    ListedRun listed;
    listed.run = row.run;
    listed.thread = std::move(row.thread);
    listed.graph = std::move(row.graph);
    listed.status = row.status;
    listed.created_at = row.created_at;
    runs.push_back(std::move(listed));
  }
  return Done{};
}

Result<Done> read_checkpoints(Snapshot& view, const TenantId& tenant, RunContents& run) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run.row.run;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto rows, view.checkpoints(filter));
    bool is_last = rows.size() < filter.limit;
    if (!rows.empty()) filter.before_seq = rows.back().seq;
    std::move(rows.begin(), rows.end(), std::back_inserter(run.checkpoints));
    if (is_last) break;
  }
  std::reverse(run.checkpoints.begin(), run.checkpoints.end());
  return Done{};
}

Result<Done> read_events(Snapshot& view, const TenantId& tenant, RunContents& run) {
  EventFilter filter;
  filter.tenant = tenant;
  filter.run = run.row.run;
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(auto rows, view.events(filter));
    bool is_last = rows.size() < filter.limit;
    if (!rows.empty()) {
      filter.after_seq = rows.back().seq;
      filter.after_index = rows.back().index;
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(run.events));
    if (is_last) return Done{};
  }
}

Result<Done> read_approvals(Snapshot& view, const TenantId& tenant, RunContents& run) {
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.run = run.row.run;
  filter.limit = kAll;
  BELAY_TRY(run.approvals, view.approvals(filter));
  std::reverse(run.approvals.begin(), run.approvals.end());
  return Done{};
}

Result<std::optional<CommitKind>> kind_of_commit(Snapshot& view, const TenantId& tenant,
                                                 const RunId& run, std::uint64_t seq) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.seq = seq;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.checkpoints(filter));
  std::optional<CommitKind> kind;
  if (!rows.empty()) kind = rows.front().kind;
  return kind;
}

// Whether the run has commits, but none so old.
Result<bool> was_pruned(Snapshot& view, const TenantId& tenant, const RunId& run,
                        std::uint64_t seq) {
  CheckpointFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto newest, view.checkpoints(filter));
  if (newest.empty() || newest.front().seq < seq) return false;
  filter.before_seq = seq;
  BELAY_TRY(auto older, view.checkpoints(filter));
  return older.empty();
}

}  // namespace

Result<StoreContents> read_lists(Snapshot& view, const TenantId& tenant) {
  StoreContents store;
  ThreadFilter threads;
  threads.tenant = tenant;
  threads.limit = kAll;
  BELAY_TRY(store.threads, view.threads(threads));
  BELAY_CHECK(list_runs(view, tenant, {}, store.runs));
  for (RunStatus status :
       {RunStatus::queued, RunStatus::running, RunStatus::paused, RunStatus::completed,
        RunStatus::failed, RunStatus::cancelled, RunStatus::quarantined}) {
    BELAY_CHECK(list_runs(view, tenant, {status}, store.runs_by_status));
  }
  return store;
}

Result<std::optional<RunContents>> read_run(Snapshot& view, const TenantId& tenant,
                                            const RunId& run) {
  std::optional<RunContents> contents;
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.runs(filter));
  if (rows.empty()) return contents;
  contents.emplace();
  contents->row = std::move(rows.front());
  BELAY_CHECK(read_checkpoints(view, tenant, *contents));
  ValueFilter values;
  values.tenant = tenant;
  values.run = run;
  values.at_seq = kAll;
  values.every_version = true;
  BELAY_TRY(contents->values, view.values(values));
  BELAY_CHECK(read_events(view, tenant, *contents));
  BELAY_CHECK(read_approvals(view, tenant, *contents));
  return contents;
}

Result<std::size_t> read_records(Snapshot& view, const TenantId& tenant, const UserId& user,
                                 const std::string& collection, std::vector<SavedRecord>& records) {
  RecordQuery query;
  query.tenant = tenant;
  query.collection = collection;
  query.user = user;
  query.limit = limits::page_rows_max;
  std::size_t count = 0;
  while (true) {
    BELAY_TRY(auto rows, view.records(query));
    for (StoredRecord& row : rows) {
      ++count;
      query.after = row.key;
      if (row.run.is_null()) continue;
      SavedRecord saved{std::move(row.collection), std::move(row.key), row.run, row.seq, {}, false};
      BELAY_TRY(saved.commit, kind_of_commit(view, tenant, saved.run, saved.seq));
      if (!saved.commit) {
        BELAY_TRY(saved.is_pruned, was_pruned(view, tenant, saved.run, saved.seq));
      }
      records.push_back(std::move(saved));
    }
    if (rows.size() < query.limit) return count;
  }
}

}  // namespace belay::check
