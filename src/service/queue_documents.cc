#include "service/queue_documents.h"

#include <map>

#include "belay/limits.h"
#include "worker/run_hold.h"

namespace belay {
namespace {

using Rows = std::map<std::string, QueueRow>;

// Reasons for which runs wait, with the number of runs.
using Holds = std::map<std::string, std::uint64_t>;

struct Standings {
  std::vector<QueueCount> counts;
  Rows rows;
  std::map<std::string, Holds> holds;  // by queue
};

// Returns the reasons for one page of due runs: those that would run first.
Result<std::map<std::string, Holds>> holds_of(Snapshot& view, const TenantId& tenant,
                                              const ConcurrencyLimits& limits, Instant now) {
  RunFilter due;
  due.tenant = tenant;
  due.statuses = {RunStatus::queued};
  due.due_by = now;
  due.by_priority = true;
  due.without_input = true;
  due.limit = limits::page_rows_max;
  std::map<std::string, Holds> holds;
  BELAY_TRY(std::vector<RunRow> rows, view.runs(due));
  if (rows.empty()) return holds;
  BELAY_TRY(RunHolds known, RunHolds::read(view, tenant, limits, now));
  for (const RunRow& row : rows) {
    std::string hold = known.of(row);
    if (!hold.empty()) ++holds[row.queue][std::move(hold)];
  }
  return holds;
}

Result<Rows> rows_of(Snapshot& view, const TenantId& tenant) {
  BELAY_TRY(std::vector<QueueRow> found, view.queues(tenant));
  Rows rows;
  for (QueueRow& row : found) {
    std::string name = row.name;
    rows.emplace(std::move(name), std::move(row));
  }
  return rows;
}

Value time_or_null(Instant at) { return at == Instant{} ? Value() : Value(to_text(at)); }

}  // namespace

Value queue_document(const QueueRow& row) {
  return Value::object({{"name", row.name},
                        {"paused", row.paused},
                        {"runsMax", row.runs_max},
                        {"perKeyMax", row.per_key_max}});
}

Task<Result<Value>> show_queues(QueueView at, std::optional<UserId> user) {
  std::function<Result<Standings>(Snapshot&)> reader =
      [tenant = at.tenant, limits = at.concurrency, now = at.clock.now(),
       user = std::move(user)](Snapshot& view) -> Result<Standings> {
    Standings found;
    BELAY_TRY(found.holds, holds_of(view, tenant, limits, now));
    BELAY_TRY(found.rows, rows_of(view, tenant));
    BELAY_TRY(found.counts, view.queue_counts(tenant, now, user));
    return found;
  };
  auto found = co_await read<Standings>(at.store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  Value::Array queues;
  for (const QueueCount& count : found->counts) {
    QueueRow row;
    row.name = count.name;
    if (auto known = found->rows.find(count.name); known != found->rows.end()) row = known->second;
    Value document = queue_document(row);
    Value::Object& members = *document.as_object();
    members.emplace("queued", count.queued);
    members.emplace("running", count.running);
    members.emplace("waiting", count.paused);
    members.emplace("quarantined", count.quarantined);
    members.emplace("due", count.due);
    members.emplace("oldestDueAt", time_or_null(count.oldest_due));
    Value::Array held_by;
    for (const auto& [reason, runs] : found->holds[count.name]) {
      held_by.push_back(Value::object({{"reason", reason}, {"runs", runs}}));
    }
    members.emplace("heldBy", std::move(held_by));
    queues.push_back(std::move(document));
  }
  co_return Value::object({{"queues", std::move(queues)}});
}

// Lists live sessions, and dead ones that still own runs.
Task<Result<Value>> show_workers(QueueView at, std::optional<SessionId> except) {
  std::function<Result<std::vector<SessionRow>>(Snapshot&)> reader =
      [tenant = at.tenant](Snapshot& view) {
        SessionFilter filter;
        filter.tenant = tenant;
        return view.sessions(filter);
      };
  auto sessions = co_await read<std::vector<SessionRow>>(at.store, std::move(reader));
  if (!sessions.ok()) co_return std::move(sessions).error();
  Value::Array workers;
  for (const SessionRow& each : *sessions) {
    if (except == each.session) continue;
    BELAY_CO_TRY(bool is_alive, at.store.is_alive(each.session));
    if (!is_alive && each.runs == 0) continue;
    auto process = at.process_of ? at.process_of(each.session) : std::nullopt;
    workers.push_back(Value::object({{"session", each.session.text()},
                                     {"name", each.name.empty() ? Value() : Value(each.name)},
                                     {"alive", is_alive},
                                     {"processId", process ? Value(*process) : Value()},
                                     {"startedAt", time_or_null(each.started_at)},
                                     {"seenAt", time_or_null(each.seen_at)},
                                     {"runs", each.runs},
                                     {"oldestAt", time_or_null(each.oldest)}}));
  }
  co_return Value::object({{"workers", std::move(workers)}});
}

Task<Result<Value>> change_queue(QueueView at, QueueChange change) {
  BELAY_CO_CHECK(check_name("queue's name", change.name));
  std::function<Result<Rows>(Snapshot&)> reader = [tenant = at.tenant](Snapshot& view) {
    return rows_of(view, tenant);
  };
  auto rows = co_await read<Rows>(at.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  QueueRow row = (*rows)[change.name];
  row.tenant = at.tenant;
  row.name = change.name;
  row.paused = change.paused.value_or(row.paused);
  row.runs_max = change.runs_max.value_or(row.runs_max);
  row.per_key_max = change.per_key_max.value_or(row.per_key_max);
  row.updated_at = at.clock.now();
  Value document = queue_document(row);
  Commit commit;
  commit.tenant = at.tenant;
  commit.rows.queues.push_back(std::move(row));
  auto outcome = co_await at.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return std::move(document);
}

}  // namespace belay
