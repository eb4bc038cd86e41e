#include "langgraph/run_records.h"

#include <algorithm>
#include <array>
#include <set>

#include "langgraph/assistants.h"
#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::array<std::string_view, 6> kRunStatuses{"pending", "running", "success",
                                                       "error",   "timeout", "interrupted"};

constexpr int kSavesMax = 3;

Error no_run(std::string_view id) {
  return error(ErrorCode::not_found,
               "Run with ID " + std::string(id.substr(0, 100)) + " not found.");
}

Task<Result<std::optional<RunRecord>>> record_of_run(const Call& call, UserId user,
                                                     std::string id) {
  auto records = records_of(call.service, call.who, std::move(user));
  co_return co_await records->get<RunRecord>(std::move(id));
}

// Reads and saves the owners of runs, which belong to no user.
Principal keeper_of(const Principal& who) {
  Principal keeper;
  keeper.tenant = who.tenant;
  return keeper;
}

// The record of a run that another user owns; only for an administrator.
Task<Result<std::optional<RunRecord>>> record_of_other(const Call& call, std::string id) {
  if (call.who.permission < Permission::administer) co_return std::optional<RunRecord>();
  auto owners = records_of(call.service, keeper_of(call.who), UserId());
  std::string key = id;
  BELAY_CO_TRY(auto owner, co_await owners->get<RunOwner>(std::move(key)));
  if (!owner) co_return std::optional<RunRecord>();
  UserId user(std::move(owner->user));
  co_return co_await record_of_run(call, std::move(user), std::move(id));
}

Task<Result<std::vector<RunRecord>>> records_of_thread(Service& service, Principal who, UserId user,
                                                       std::string thread) {
  RecordFilter filter;
  filter.field = "thread";
  filter.value = std::move(thread);
  BELAY_CO_TRY(auto found, co_await read_records<RunRecord>(service, std::move(who),
                                                            std::move(user), std::move(filter)));
  std::vector<RunRecord> records;
  for (auto& each : found.records) records.push_back(std::move(each.record));
  co_return std::move(records);
}

bool is_later(const RunRecord& one, const RunRecord& other) {
  return one.run == other.run && one.after > other.after;
}

// Whether the run of the service has continued behind the commit at which the request found it: the
// record is saved before that (resumes.h).
bool has_begun(const RunRecord& record, const RunRow& row) {
  return record.after == 0 || static_cast<std::int64_t>(row.seq) > record.after;
}

// Removes the records of deleted runs with this id as well.
void remove_unbegun(const RunRow& row, std::vector<RunRecord>& records) {
  std::string run = row.run.text();
  std::erase_if(records, [&](const RunRecord& each) {
    return each.run == run && !(is_record_of(each, row) && has_begun(each, row));
  });
}

// The run of the service that a run of the protocol belongs to.
Task<Result<RunRow>> row_of_record(const Call& call, const RunRecord& record) {
  auto run = uuid_from(record.run);
  if (!run) co_return error(ErrorCode::corrupt, "The record of run " + record.id + " is damaged.");
  co_return co_await call.service.run(call.who, RunId(*run));
}

Task<Result<bool>> run_exists(const Call& call, const RunRecord& record) {
  auto row = co_await row_of_record(call, record);
  if (row.ok()) co_return is_record_of(record, *row);
  if (row.error().code == ErrorCode::not_found) co_return false;
  co_return std::move(row).error();
}

// The version of the record with this id, if it is that of a deleted run.
Task<Result<std::optional<std::uint64_t>>> version_of_deleted(const Call& call, UserId user,
                                                              std::string id) {
  auto records = records_of(call.service, call.who, std::move(user));
  BELAY_CO_TRY(auto found, co_await records->get_versioned<RunRecord>(std::move(id)));
  if (!found) co_return std::optional<std::uint64_t>();
  BELAY_CO_TRY(bool exists, co_await run_exists(call, found->record));
  co_return exists ? std::optional<std::uint64_t>() : std::optional(found->version);
}

// Saves the record if the stored one has this version. `conflict` if it has another one.
Task<Result<Done>> save_expected(const Call& call, const RunRecord& record, UserId user,
                                 std::uint64_t version) {
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, record, user, version));
  Principal who = call.who;
  bool is_permitted = user == who.user || who.permission >= Permission::administer;
  if (record.id != record.run && is_permitted) {
    RunOwner owner{record.id, user.text, record.created_at};
    BELAY_CO_CHECK(add_write(writes, owner, UserId()));
    who = keeper_of(call.who);
  }
  co_return co_await call.service.save_records(who, std::move(writes));
}

}  // namespace

bool is_record_of(const RunRecord& record, const RunRow& row) {
  bool is_at_time = !record.run_created_at || *record.run_created_at == row.created_at;
  return record.run == row.run.text() && is_at_time;
}

Task<Result<std::optional<RunRecord>>> existing_record(const Call& call, UserId user,
                                                       std::string id) {
  BELAY_CO_TRY(auto record, co_await record_of_run(call, std::move(user), std::move(id)));
  if (!record) co_return std::move(record);
  BELAY_CO_TRY(bool exists, co_await run_exists(call, *record));
  if (!exists) record.reset();
  co_return std::move(record);
}

RunRecord record_of_row(const RunRow& row) {
  RunRecord record;
  record.id = record.run = row.run.text();
  record.thread = row.thread.text;
  record.run_created_at = row.created_at;
  record.assistant_id = system_assistant_id(row.graph);
  record.strategy = name_of(BusyThread::reject);
  record.created_at = row.created_at;
  return record;
}

Task<Result<ProtocolRun>> find_run_by_id(const Call& call, std::string id,
                                         std::optional<UserId> owner) {
  auto uuid = uuid_from(id);
  if (!uuid) co_return no_run(id);
  id = uuid->text();
  std::string key = id;
  UserId user = owner ? *owner : call.who.user;
  BELAY_CO_TRY(auto own, co_await record_of_run(call, std::move(user), std::move(key)));
  if (!own && !owner) {
    key = id;
    BELAY_CO_TRY(own, co_await record_of_other(call, std::move(key)));
  }
  Result<RunRow> row = no_run(id);
  if (own) {
    row = co_await row_of_record(call, *own);
  } else {
    row = co_await call.service.run(call.who, RunId(*uuid));
  }
  bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
  if (is_absent) co_return no_run(id);
  if (!row.ok()) co_return std::move(row).error();
  bool continues = own && own->id != own->run;
  bool is_unbegun = continues && !(is_record_of(*own, *row) && has_begun(*own, *row));
  if (is_unbegun) co_return no_run(id);
  co_return co_await run_with_record(call.service, call.who, *std::move(row), std::move(id));
}

Task<Result<ProtocolRun>> run_with_record(Service& service, Principal who, RunRow row,
                                          std::string id) {
  ProtocolRun found;
  found.row = std::move(row);
  UserId user = found.row.user;
  std::string thread = found.row.thread.text;
  BELAY_CO_TRY(auto records, co_await records_of_thread(service, std::move(who), std::move(user),
                                                        std::move(thread)));
  remove_unbegun(found.row, records);
  auto named = std::find_if(records.begin(), records.end(),
                            [&id](const RunRecord& each) { return each.id == id; });
  found.record = named == records.end() ? record_of_row(found.row) : *named;
  found.is_superseded =
      std::any_of(records.begin(), records.end(),
                  [&found](const RunRecord& each) { return is_later(each, found.record); });
  co_return std::move(found);
}

Task<Result<ProtocolRun>> find_run(const Call& call, ThreadId thread, std::string id) {
  if (auto uuid = uuid_from(thread.text)) thread = ThreadId(uuid->text());
  std::string named = id;
  auto found = co_await find_run_by_id(call, std::move(named));
  bool is_absent = !found.ok() && found.error().code == ErrorCode::not_found;
  if (is_absent && call.who.permission >= Permission::administer) {
    // The records of its runs are those of its owner.
    ThreadId owned = thread;
    auto newest = co_await call.service.run_of(call.who, std::move(owned), std::nullopt);
    if (!newest.ok()) co_return std::move(found);
    named = id;
    found = co_await find_run_by_id(call, std::move(named), std::move(newest->user));
  }
  if (found.ok() && found->row.thread != thread) co_return no_run(id);
  co_return std::move(found);
}

Task<Result<std::vector<ProtocolRun>>> runs_of_thread(const Call& call, const ThreadView& thread) {
  std::vector<ProtocolRun> runs;
  if (!thread.listed) co_return std::move(runs);
  UserId user = thread.user;
  std::string name = thread.id.text;
  BELAY_CO_TRY(auto records, co_await records_of_thread(call.service, call.who, std::move(user),
                                                        std::move(name)));
  RunPage page;
  page.thread = thread.id;
  page.limit = limits::list_rows_max;
  bool has_more = true;
  while (has_more && runs.size() < kSearchedMax) {
    RunPage wanted = page;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(wanted)));
    has_more = rows.size() == page.limit;
    if (has_more) page.before = rows.back().run;
    for (const RunRow& row : rows) {
      remove_unbegun(row, records);
      RunRecord first = record_of_row(row);
      for (const RunRecord& each : records) {
        if (each.id == first.id) first = each;
        if (each.run == first.run && each.id != first.id) runs.push_back({each, row, false});
      }
      runs.push_back({std::move(first), row, false});
    }
  }
  for (ProtocolRun& run : runs) {
    run.is_superseded = std::any_of(records.begin(), records.end(), [&run](const RunRecord& each) {
      return is_later(each, run.record);
    });
  }
  std::sort(runs.begin(), runs.end(), [](const ProtocolRun& a, const ProtocolRun& b) {
    auto order = [](const ProtocolRun& run) {
      return std::tuple(run.record.created_at, run.row.ordinal, run.record.after);
    };
    return order(b) < order(a);
  });
  co_return std::move(runs);
}

Task<Result<Done>> save_run(const Call& call, RunRecord record, UserId user) {
  std::uint64_t version = 0;
  for (int attempt = 0; attempt < kSavesMax; ++attempt) {
    UserId owner = user;
    auto saved = co_await save_expected(call, record, std::move(owner), version);
    bool exists = !saved.ok() && saved.error().code == ErrorCode::conflict;
    if (!exists) co_return std::move(saved);
    owner = user;
    std::string id = record.id;
    BELAY_CO_TRY(auto deleted, co_await version_of_deleted(call, std::move(owner), std::move(id)));
    // The same request was sent before.
    if (!deleted) co_return Done{};
    version = *deleted;
  }
  co_return error(ErrorCode::unavailable,
                  "The record of run " + record.id + " is changed by other requests. Try again.");
}

namespace {

Task<Result<std::set<std::string>>> run_ids_of_thread(Service& service, Principal who,
                                                      ThreadId thread) {
  std::set<std::string> ids;
  RunPage page;
  page.thread = std::move(thread);
  page.limit = limits::list_rows_max;
  bool is_last = false;
  while (!is_last) {
    RunPage wanted = page;
    auto rows = co_await service.runs(who, std::move(wanted));
    bool is_absent = !rows.ok() && rows.error().code == ErrorCode::not_found;
    if (is_absent) co_return std::move(ids);  // the thread does not exist
    if (!rows.ok()) co_return std::move(rows).error();
    for (const RunRow& row : *rows) ids.insert(row.run.text());
    is_last = rows->size() < page.limit;
    if (!is_last) page.before = rows->back().run;
  }
  co_return std::move(ids);
}

}  // namespace

Task<Result<Done>> delete_thread_of_run(Service& service, Principal who, RunRow row) {
  ThreadId thread = row.thread;
  auto deleted = co_await service.delete_thread(who, std::move(thread));
  bool is_absent = !deleted.ok() && deleted.error().code == ErrorCode::not_found;
  if (!deleted.ok() && !is_absent) co_return std::move(deleted).error();
  co_return co_await forget_runs(service, std::move(who), std::move(row.thread),
                                 std::move(row.user));
}

Task<Result<Done>> forget_runs(Service& service, Principal who, ThreadId thread, UserId user) {
  UserId owner = user;
  std::string named = thread.text;
  BELAY_CO_TRY(auto records,
               co_await records_of_thread(service, who, std::move(owner), std::move(named)));
  if (records.empty()) co_return Done{};
  BELAY_CO_TRY(std::set<std::string> existing,
               co_await run_ids_of_thread(service, who, std::move(thread)));
  std::vector<RecordWrite> writes;
  for (const RunRecord& each : records) {
    if (existing.contains(each.run)) continue;
    writes.push_back(record_erasure(RunRecord::collection, user, each.id));
  }
  if (writes.empty()) co_return Done{};
  co_return co_await service.save_records(who, std::move(writes));
}

std::string_view status_of(const ProtocolRun& run) {
  if (run.is_superseded) return "success";
  switch (run.row.status) {
    case RunStatus::queued:
      return "pending";
    case RunStatus::running:
      return "running";
    case RunStatus::paused:
      return thread_status(run.row) == ThreadStatus::busy ? "running" : "success";
    case RunStatus::completed:
      return "success";
    case RunStatus::cancelled:
      return "interrupted";
    case RunStatus::failed:
    case RunStatus::quarantined:
      break;
  }
  return "error";
}

bool is_run_status(std::string_view name) {
  return std::find(kRunStatuses.begin(), kRunStatuses.end(), name) != kRunStatuses.end();
}

Value run_document(const ProtocolRun& run) {
  const RunRecord& record = run.record;
  Instant changed =
      run.is_superseded ? record.created_at : std::max(run.row.updated_at, record.created_at);
  return Value::object({{"run_id", record.id},
                        {"thread_id", record.thread},
                        {"assistant_id", record.assistant_id},
                        {"created_at", to_text(record.created_at)},
                        {"updated_at", to_text(changed)},
                        {"status", status_of(run)},
                        {"metadata", record.metadata},
                        {"kwargs", record.kwargs},
                        {"multitask_strategy", record.strategy}});
}

}  // namespace belay::langgraph
