// Queues in SQLite: their rows, concurrency limits, running runs by scope, sessions.

#include "store/sqlite/commit_writer.h"
#include "store/sqlite/read_rows.h"
#include "store/sqlite/sqlite_snapshot.h"

namespace belay::sqlite {
namespace {

// The properties by which a run is counted: the stored ones, or those of its first commit.
struct Groups {
  bool is_running = false;
  std::string user;
  std::string queue;
  std::string key;
};

std::string_view sql_of_count(ConcurrencyScope of) {
  switch (of) {
    case ConcurrencyScope::user:
      return "SELECT count(*) FROM runs r CROSS JOIN run_starts s ON s.run_number = r.run_number"
             " WHERE r.tenant_id = ? AND r.status = 'running' AND s.user_id = ?"
             " AND r.run_number <> ?";
    case ConcurrencyScope::key:
      return "SELECT count(*) FROM runs r WHERE r.tenant_id = ? AND r.status = 'running'"
             " AND r.concurrency_key = ? AND r.run_number <> ?";
    case ConcurrencyScope::queue:
      return "SELECT count(*) FROM runs r WHERE r.tenant_id = ? AND r.status = 'running'"
             " AND coalesce(r.queue, 'default') = ? AND r.run_number <> ?";
    case ConcurrencyScope::tenant:
      break;
  }
  return "SELECT count(*) FROM runs r WHERE r.tenant_id = ? AND r.status = 'running'"
         " AND ? = '' AND r.run_number <> ?";
}

std::string_view group_in(const Groups& groups, ConcurrencyScope of) {
  if (of == ConcurrencyScope::user) return groups.user;
  if (of == ConcurrencyScope::key) return groups.key;
  return of == ConcurrencyScope::queue ? std::string_view(groups.queue) : std::string_view();
}

}  // namespace

// Returns true if the guard does not hold: the run is then not updated, and move_run() reports it.
// The count is exact over all processes: BEGIN IMMEDIATE has excluded other writers.
Result<bool> CommitWriter::has_capacity(const Commit& commit, const Place& place,
                                        const RunRow& run) {
  if (commit.concurrency.empty() || run.status != RunStatus::running || place.tenant == 0)
    return true;
  Groups groups{false, run.user.text, run.queue, run.concurrency_key};
  if (place.run != 0) {
    BELAY_TRY(Statement row,
              connection_.prepare("SELECT r.status, s.user_id, coalesce(r.queue, 'default'),"
                                  " r.concurrency_key FROM runs r CROSS JOIN run_starts s"
                                  " ON s.run_number = r.run_number WHERE r.run_number = ?"
                                  " AND r.run_id = ? AND r.epoch = ? AND r.seq = ?"));
    row.bind(place.run).bind(run.run).bind(commit.run_guard->epoch).bind(commit.run_guard->seq);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection_.error();
    if (step == Statement::Step::done) return true;
    groups = {row.text(0) == "running", row.text(1), row.text(2), row.text(3)};
  }
  if (groups.is_running) return true;
  for (const ConcurrencyGuard& guard : commit.concurrency) {
    if (guard.scope == ConcurrencyScope::key && groups.key.empty()) continue;
    BELAY_TRY(Statement row, connection_.prepare(sql_of_count(guard.scope)));
    row.bind(place.tenant).bind(group_in(groups, guard.scope)).bind(place.run);
    if (row.step() != Statement::Step::row) return connection_.error();
    if (row.natural(0) >= guard.limit) return false;
  }
  return true;
}

Result<Done> CommitWriter::put_queue(std::int64_t tenant, const QueueRow& queue) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO queues (tenant_id, name, paused, runs_max,"
                                " per_key_max, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
                                " ON CONFLICT (tenant_id, name) DO UPDATE SET"
                                " paused = excluded.paused, runs_max = excluded.runs_max,"
                                " per_key_max = excluded.per_key_max,"
                                " updated_at = excluded.updated_at"));
  row.bind(tenant).bind(queue.name).bind(std::int64_t{queue.paused}).bind(queue.runs_max);
  row.bind(queue.per_key_max).bind(queue.updated_at);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

Result<std::vector<TenantId>> SqliteSnapshot::tenants() {
  BELAY_TRY(Statement rows, connection_.prepare("SELECT name FROM tenants ORDER BY name"));
  auto read_row = [](const Statement& row, TenantId& tenant) -> Result<Done> {
    tenant = TenantId(row.text(0));
    return Done{};
  };
  return all_rows<TenantId>(connection_, std::move(rows), read_row);
}

Result<std::vector<QueueRow>> SqliteSnapshot::queues(const TenantId& tenant) {
  BELAY_TRY(std::int64_t number, tenant_number(tenant));
  static const std::string sql = "SELECT " + store::select_list<QueueRow>("q") +
                                 " FROM queues q WHERE tenant_id = ? ORDER BY name";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(number);
  auto read_row = [&](const Statement& row, QueueRow& queue) {
    queue.tenant = tenant;
    return read_fields(row, queue);
  };
  return all_rows<QueueRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<QueueCount>> SqliteSnapshot::queue_counts(const TenantId& tenant, Instant now,
                                                             const std::optional<UserId>& user) {
  BELAY_TRY(std::int64_t number, tenant_number(tenant));
  std::string sql =
      "WITH waiting AS (SELECT coalesce(queue, 'default') AS name, status,"
      "   iif(status IN ('queued', 'paused') AND due_at <= ?, due_at, NULL) AS due_at"
      "   FROM runs r WHERE tenant_id = ?"
      "   AND status IN ('queued', 'running', 'paused', 'quarantined')";
  if (user) {
    sql += " AND (SELECT s.user_id FROM run_starts s WHERE s.run_number = r.run_number) = ?";
  }
  sql +=
      "   UNION ALL SELECT name, NULL, NULL FROM queues WHERE tenant_id = ?)"
      " SELECT name, count(*) FILTER (WHERE status = 'queued'),"
      " count(*) FILTER (WHERE status = 'running'), count(*) FILTER (WHERE status = 'paused'),"
      " count(*) FILTER (WHERE status = 'quarantined'), count(due_at), min(due_at)"
      " FROM waiting GROUP BY name ORDER BY name";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(now).bind(number);
  if (user) rows.bind(user->text);
  rows.bind(number);
  auto read_row = [](const Statement& row, QueueCount& count) -> Result<Done> {
    count.name = row.text(0);
    count.queued = row.natural(1);
    count.running = row.natural(2);
    count.paused = row.natural(3);
    count.quarantined = row.natural(4);
    count.due = row.natural(5);
    count.oldest_due = row.instant(6);
    return Done{};
  };
  return all_rows<QueueCount>(connection_, std::move(rows), read_row);
}

Result<std::vector<ConcurrencyCount>> SqliteSnapshot::running_counts(const TenantId& tenant,
                                                                     ConcurrencyScope of) {
  BELAY_TRY(std::int64_t number, tenant_number(tenant));
  std::string_view group = "''";
  if (of == ConcurrencyScope::user) group = "s.user_id";
  if (of == ConcurrencyScope::key) group = "r.concurrency_key";
  if (of == ConcurrencyScope::queue) group = "coalesce(r.queue, 'default')";
  std::string sql = "SELECT " + std::string(group) + " AS name, count(*) FROM runs r";
  if (of == ConcurrencyScope::user)
    sql += " CROSS JOIN run_starts s ON s.run_number = r.run_number";
  sql += " WHERE r.tenant_id = ? AND r.status = 'running'";
  if (of == ConcurrencyScope::key) sql += " AND r.concurrency_key IS NOT NULL";
  sql += " GROUP BY name ORDER BY name";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(number);
  auto read_row = [](const Statement& row, ConcurrencyCount& count) -> Result<Done> {
    count.scope_key = row.text(0);
    count.running = row.natural(1);
    return Done{};
  };
  return all_rows<ConcurrencyCount>(connection_, std::move(rows), read_row);
}

Result<std::vector<SessionRow>> SqliteSnapshot::sessions(const SessionFilter& filter) {
  std::int64_t tenant = 0;
  if (filter.tenant) {
    BELAY_TRY(tenant, tenant_number(*filter.tenant));
  }
  std::string sql =
      "WITH owned AS (SELECT session_number, count(*) AS runs, min(updated_at) AS oldest"
      " FROM runs WHERE status = 'running' AND session_number IS NOT NULL";
  if (filter.tenant) sql += " AND tenant_id = ?";
  sql +=
      " GROUP BY session_number) SELECT s.session_id, s.started_at, coalesce(o.runs, 0), o.oldest"
      " FROM sessions s LEFT JOIN owned o ON o.session_number = s.number";
  if (filter.only_owners) sql += " WHERE o.runs > 0";
  sql += " ORDER BY s.number DESC LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  if (filter.tenant) rows.bind(tenant);
  rows.bind(filter.limit);
  auto read_row = [](const Statement& row, SessionRow& session) -> Result<Done> {
    session.session = SessionId(row.uuid(0));
    session.started_at = row.instant(1);
    session.runs = row.natural(2);
    session.oldest = row.instant(3);
    return Done{};
  };
  return all_rows<SessionRow>(connection_, std::move(rows), read_row);
}

}  // namespace belay::sqlite
