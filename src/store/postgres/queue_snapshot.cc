// Reads of PostgresSnapshot: queues, tenants, running runs, sessions, due runs by priority.

#include "store/postgres/postgres_snapshot.h"

namespace belay::postgres {
namespace {

// Runs with a due time. Verbatim the condition of the partial index, so that the planner uses it.
constexpr std::string_view waits = " r.due_at IS NOT NULL AND r.status IN ('queued', 'paused')";

std::string_view group_column(ConcurrencyScope of) {
  if (of == ConcurrencyScope::user) return "s.user_id";
  if (of == ConcurrencyScope::key) return "r.concurrency_key";
  return of == ConcurrencyScope::queue ? std::string_view("r.queue") : std::string_view("''");
}

}  // namespace

// One index lookup per level of priority, however many runs are not due or have another priority.
void PostgresSnapshot::ask_by_priority(const RunFilter& filter, Query& query) {
  std::string levels =
      " FROM (WITH RECURSIVE levels (level) AS ("
      " (SELECT r.priority FROM belay.runs r WHERE r.tenant = ? AND" +
      std::string(waits) +
      " ORDER BY r.priority DESC LIMIT 1) UNION ALL"
      " SELECT (SELECT r.priority FROM belay.runs r WHERE r.tenant = ? AND" +
      std::string(waits) +
      " AND r.priority < l.level ORDER BY r.priority DESC LIMIT 1)"
      " FROM levels l WHERE l.level IS NOT NULL) SELECT level FROM levels"
      " WHERE level IS NOT NULL) AS l";
  query.add(levels, filter.tenant, filter.tenant);
  query.add(
      " CROSS JOIN LATERAL (SELECT r.* FROM belay.runs r JOIN belay.run_starts s"
      " ON s.tenant = r.tenant AND s.run_id = r.run_id"
      " WHERE r.tenant = ? AND r.priority = l.level",
      filter.tenant);
  add_run_conditions(query, filter);
  if (claims_for_) {
    query.add(
        " AND (r.offered_until IS NULL OR r.offered_until < clock_timestamp()"
        " OR r.offered_to = ?)",
        *claims_for_);
  }
  query.add(" ORDER BY r.due_at, r.run_number LIMIT ?", filter.limit);
  if (claims_for_) query.add(" FOR UPDATE OF r SKIP LOCKED");
  query.add(
      ") AS r JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id"
      " ORDER BY r.priority DESC, r.due_at, r.run_number LIMIT ?",
      filter.limit);
}

// Jumps from tenant to tenant in an index.
Result<std::vector<TenantId>> PostgresSnapshot::tenants() {
  Query query(
      "WITH RECURSIVE known (tenant) AS ((SELECT t.tenant FROM belay.threads t ORDER BY t.tenant"
      " LIMIT 1) UNION ALL SELECT (SELECT t.tenant FROM belay.threads t WHERE t.tenant > k.tenant"
      " ORDER BY t.tenant LIMIT 1) FROM known k WHERE k.tenant IS NOT NULL)"
      " SELECT tenant FROM known WHERE tenant IS NOT NULL"
      " UNION SELECT DISTINCT tenant FROM belay.records"
      " UNION SELECT DISTINCT tenant FROM belay.queues ORDER BY 1");
  query.keep_plan();
  return all<TenantId>(query, [](const Rows& rows, int row, TenantId& tenant) -> Result<Done> {
    tenant = TenantId(rows.text(row, 0));
    return Done{};
  });
}

Result<std::vector<QueueRow>> PostgresSnapshot::queues(const TenantId& tenant) {
  Query query("SELECT " + store::select_list<QueueRow>("q") + " FROM belay.queues q");
  query.add(" WHERE tenant = ? ORDER BY name", tenant).keep_plan();
  return all<QueueRow>(query, [&](const Rows& rows, int row, QueueRow& queue) {
    queue.tenant = tenant;
    return read_fields(rows, row, queue);
  });
}

Result<std::vector<QueueCount>> PostgresSnapshot::queue_counts(const TenantId& tenant, Instant now,
                                                               const std::optional<UserId>& user) {
  Query query("WITH waiting AS (SELECT r.queue AS name, r.status,");
  query.add(
      " CASE WHEN r.status IN ('queued', 'paused') AND r.due_at <= ? THEN r.due_at END AS due_at"
      " FROM belay.runs r WHERE r.tenant = ?"
      " AND r.status IN ('queued', 'running', 'paused', 'quarantined')",
      now, tenant);
  if (user) {
    query.add(
        " AND EXISTS (SELECT 1 FROM belay.run_starts s WHERE s.tenant = r.tenant"
        " AND s.run_id = r.run_id AND s.user_id = ?)",
        *user);
  }
  query.add(
      " UNION ALL SELECT name, NULL, NULL FROM belay.queues WHERE tenant = ?)"
      " SELECT name, count(*) FILTER (WHERE status = 'queued'),"
      " count(*) FILTER (WHERE status = 'running'), count(*) FILTER (WHERE status = 'paused'),"
      " count(*) FILTER (WHERE status = 'quarantined'), count(due_at), min(due_at)"
      " FROM waiting GROUP BY name ORDER BY name",
      tenant);
  return all<QueueCount>(query, [](const Rows& rows, int row, QueueCount& count) -> Result<Done> {
    count.name = rows.text(row, 0);
    count.queued = rows.natural(row, 1);
    count.running = rows.natural(row, 2);
    count.paused = rows.natural(row, 3);
    count.quarantined = rows.natural(row, 4);
    count.due = rows.natural(row, 5);
    count.oldest_due = rows.instant(row, 6);
    return Done{};
  });
}

Result<std::vector<ConcurrencyCount>> PostgresSnapshot::running_counts(const TenantId& tenant,
                                                                       ConcurrencyScope of) {
  Query query("SELECT ");
  query.add(group_column(of));
  query.add(
      " AS name, count(*) FROM belay.runs r"
      " JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id"
      " WHERE r.tenant = ? AND r.status = 'running'",
      tenant);
  if (of == ConcurrencyScope::key) query.add(" AND r.concurrency_key <> ''");
  query.add(" GROUP BY 1 ORDER BY 1");
  return all<ConcurrencyCount>(
      query, [](const Rows& rows, int row, ConcurrencyCount& count) -> Result<Done> {
        count.scope_key = rows.text(row, 0);
        count.running = rows.natural(row, 1);
        return Done{};
      });
}

// Includes owners of runs whose session no longer has a row.
Result<std::vector<SessionRow>> PostgresSnapshot::sessions(const SessionFilter& filter) {
  Query query(
      "WITH owned AS (SELECT session_id, count(*) AS runs, min(updated_at) AS oldest"
      " FROM belay.runs WHERE status = 'running' AND session_id IS NOT NULL");
  if (filter.tenant) query.add(" AND tenant = ?", *filter.tenant);
  query.add(
      " GROUP BY session_id) SELECT session_id, s.started_at, s.seen_at, coalesce(o.runs, 0),"
      " o.oldest, coalesce(s.name, '') FROM belay.sessions s FULL JOIN owned o USING (session_id)");
  if (filter.only_owners) query.add(" WHERE o.runs > 0");
  query.add(" ORDER BY s.started_at DESC NULLS LAST, session_id LIMIT ?", filter.limit);
  return all<SessionRow>(query, [](const Rows& rows, int row, SessionRow& session) -> Result<Done> {
    session.session = SessionId(rows.uuid(row, 0));
    session.started_at = rows.instant(row, 1);
    session.seen_at = rows.instant(row, 2);
    session.runs = rows.natural(row, 3);
    session.oldest = rows.instant(row, 4);
    session.name = rows.text(row, 5);
    return Done{};
  });
}

}  // namespace belay::postgres
