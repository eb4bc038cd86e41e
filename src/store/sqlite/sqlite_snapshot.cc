#include "store/sqlite/sqlite_snapshot.h"

#include <algorithm>

#include "store/sqlite/list_conditions.h"
#include "store/sqlite/read_rows.h"
#include "store/stored_digest.h"

namespace belay::sqlite {
namespace {

Result<Done> read_checkpoint(const Statement& row, CheckpointRow& checkpoint) {
  BELAY_CHECK(read_fields(row, checkpoint));
  store::keep_hash(row.text(store::column_count<CheckpointRow>()), checkpoint);
  return Done{};
}

// Returns the columns of a run; without its input and options if they are not needed.
std::string run_columns(bool without_input) {
  return store::select_list<RunRow>(
      "r", {{"thread_id", "t.thread_id"},
            {"user_id", "s.user_id"},
            {"graph", "g.name"},
            {"graph_hash", "g.content_hash"},
            {"input", without_input ? "x''" : "s.input"},
            {"options", without_input ? "''" : "s.options"},
            {"created_at", "s.created_at"},
            {"session_id", "(SELECT session_id FROM sessions WHERE number = r.session_number)"},
            {"checkpoint_id",
             "(SELECT checkpoint_id FROM checkpoints c WHERE c.tenant_id = r.tenant_id"
             " AND c.run_number = r.run_number AND c.namespace = '' AND c.seq = r.seq)"},
            {"forked_from", "s.forked_from"},
            {"forked_at", "s.forked_at"},
            {"queue", "coalesce(r.queue, 'default')"},
            {"ordinal", "s.ordinal"},
            {"start_seal", "s.seal"}});
}

// Returns a condition with one "?" per status. Its constant part makes SQLite use the partial index
// of the runs that are running, or have not ended.
std::string condition_for(const std::vector<RunStatus>& statuses) {
  if (statuses.empty()) return "";
  if (statuses == std::vector{RunStatus::running}) {  // has its own index
    return " AND r.status = ? AND r.status = 'running'";
  }
  std::string condition = " AND r.status IN (?";
  for (std::size_t i = 1; i < statuses.size(); ++i) condition += ", ?";
  condition += ")";
  if (std::none_of(statuses.begin(), statuses.end(), is_final)) {
    condition += " AND r.status IN ('queued', 'running', 'paused', 'quarantined')";
  }
  return condition;
}

ListConditions lists_of(const RunFilter& filter) {
  ListConditions lists;
  lists.add("coalesce(r.queue, 'default') IN", filter.queues, text_itself);
  lists.add("g.name IN", filter.graphs, text_itself);
  lists.add(
      "lower(hex(coalesce((SELECT session_id FROM sessions WHERE number = r.session_number),"
      " zeroblob(16)))) IN",
      filter.owners, hex_of);
  lists.add("lower(hex(r.run_id)) NOT IN", filter.except_runs, hex_of);
  lists.add("s.user_id NOT IN", filter.except_users,
            [](const UserId& user) -> const std::string& { return user.text; });
  lists.add("coalesce(r.concurrency_key, '') NOT IN", filter.except_keys, text_itself);
  lists.add("coalesce(r.queue, 'default') NOT IN", filter.except_queues, text_itself);
  return lists;
}

}  // namespace

Result<std::int64_t> SqliteSnapshot::tenant_number(const TenantId& tenant) {
  BELAY_TRY(Statement row, connection_.prepare("SELECT tenant_id FROM tenants WHERE name = ?"));
  row.bind(tenant.text);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  return step == Statement::Step::row ? row.number(0) : 0;
}

Result<SqliteSnapshot::Place> SqliteSnapshot::place_of(const TenantId& tenant, const RunId& run) {
  Place place;
  BELAY_TRY(place.tenant, tenant_number(tenant));
  BELAY_TRY(Statement row, connection_.prepare("SELECT run_number FROM runs"
                                               " WHERE tenant_id = ? AND run_id = ?"));
  row.bind(place.tenant).bind(run);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::row) place.run = row.number(0);
  return place;
}

Result<std::vector<ThreadRow>> SqliteSnapshot::threads(const ThreadFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  static const std::string columns = store::select_list<ThreadRow>(
      "t", {{"last_run",
             "(SELECT run_id FROM runs WHERE run_number = (SELECT max(run_number) FROM runs r"
             " WHERE r.tenant_id = t.tenant_id AND r.thread_number = t.thread_number))"}});
  std::string sql = "SELECT " + columns + " FROM threads t WHERE t.tenant_id = ?";
  if (filter.thread) sql += " AND t.thread_id = ?";
  if (filter.user) sql += " AND t.user_id = ?";
  if (filter.before) {
    sql +=
        " AND t.thread_number <"
        " (SELECT thread_number FROM threads WHERE tenant_id = ? AND thread_id = ?)";
  }
  sql += " ORDER BY t.thread_number DESC LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.thread) rows.bind(filter.thread->text);
  if (filter.user) rows.bind(filter.user->text);
  if (filter.before) rows.bind(tenant).bind(filter.before->text);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, ThreadRow& thread) {
    thread.tenant = filter.tenant;
    return read_fields(row, thread);
  };
  return all_rows<ThreadRow>(connection_, std::move(rows), read_row);
}

// The condition of the partial index of runs that have not ended is verbatim that of the index. The
// subquery names the thread itself, not the row's: otherwise it would be executed for each run of
// the thread.
constexpr std::string_view is_current =
    " AND r.run_number = (SELECT min(e.run_number) FROM runs e WHERE e.tenant_id = ?"
    " AND e.thread_number = (SELECT thread_number FROM threads WHERE tenant_id = ? AND thread_id = "
    "?)"
    " AND e.status IN ('queued', 'running', 'paused', 'quarantined'))";
// Without runs that wait for the end of earlier runs of their thread.
constexpr std::string_view is_due =
    " AND r.due_at IS NOT NULL AND r.due_at <= ? AND r.status IN ('queued', 'paused')"
    " AND NOT (s.ordinal > 0 AND r.node = '' AND EXISTS (SELECT 1 FROM runs e"
    "   WHERE e.tenant_id = r.tenant_id AND e.thread_number = r.thread_number"
    "   AND e.run_number < r.run_number"
    "   AND e.status IN ('queued', 'running', 'paused', 'quarantined')))";

// In the order of the partial index of runs that have not ended: see RunFilter::in_pages.
constexpr std::string_view is_in_pages =
    " AND r.status IN ('queued', 'running', 'paused', 'quarantined')";
constexpr std::string_view is_after =
    " AND (r.thread_number, r.run_number) >"
    " ((SELECT thread_number FROM runs WHERE tenant_id = ? AND run_id = ?),"
    "  (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?))";

Result<std::vector<RunRow>> SqliteSnapshot::runs(const RunFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  // Few runs have not ended; one user's might be few among many.
  bool is_unfinished = !filter.statuses.empty() &&
                       std::none_of(filter.statuses.begin(), filter.statuses.end(), is_final);
  bool by_user = filter.user && !filter.run && !filter.thread && !filter.due_by && !is_unfinished;
  static const std::string whole = run_columns(false);
  static const std::string reduced = run_columns(true);
  std::string sql = "SELECT " + (filter.without_input ? reduced : whole) + " FROM ";
  sql += by_user ? "run_starts s CROSS JOIN runs r" : "runs r CROSS JOIN run_starts s";
  sql +=
      " ON s.run_number = r.run_number"
      " CROSS JOIN threads t ON t.thread_number = r.thread_number"
      " CROSS JOIN graphs g ON g.graph_number = s.graph_number WHERE r.tenant_id = ?";
  if (filter.user) sql += " AND s.tenant_id = ? AND s.user_id = ?";
  if (filter.run) sql += " AND r.run_id = ?";
  if (filter.thread) {
    sql +=
        " AND r.thread_number ="
        " (SELECT thread_number FROM threads WHERE tenant_id = ? AND thread_id = ?)";
  }
  sql += condition_for(filter.statuses);
  if (filter.thread && filter.only_current) sql += is_current;
  if (filter.due_by) sql += is_due;
  if (filter.updated_before) sql += " AND r.updated_at < ?";
  if (filter.before) {
    sql += " AND r.run_number < (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?)";
  }
  if (filter.in_pages) sql += is_in_pages;
  if (filter.in_pages && filter.after) sql += is_after;
  ListConditions lists = lists_of(filter);
  sql += lists.sql();
  sql += filter.in_pages      ? " ORDER BY r.thread_number, r.run_number LIMIT ?"
         : by_user            ? " ORDER BY s.run_number DESC LIMIT ?"
         : !filter.due_by     ? " ORDER BY r.run_number DESC LIMIT ?"
         : filter.by_priority ? " ORDER BY r.priority DESC, r.due_at, r.run_number LIMIT ?"
                              : " ORDER BY r.due_at, r.run_number LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.user) rows.bind(tenant).bind(filter.user->text);
  if (filter.run) rows.bind(*filter.run);
  if (filter.thread) rows.bind(tenant).bind(filter.thread->text);
  for (RunStatus status : filter.statuses) rows.bind(status);
  if (filter.thread && filter.only_current) {
    rows.bind(tenant).bind(tenant).bind(filter.thread->text);
  }
  if (filter.due_by) rows.bind(*filter.due_by);
  if (filter.updated_before) rows.bind(*filter.updated_before);
  if (filter.before) rows.bind(tenant).bind(*filter.before);
  if (filter.in_pages && filter.after) {
    rows.bind(tenant).bind(*filter.after).bind(tenant).bind(*filter.after);
  }
  lists.bind(rows);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, RunRow& run) {
    run.tenant = filter.tenant;
    return read_fields(row, run);
  };
  return all_rows<RunRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<CheckpointRow>> SqliteSnapshot::checkpoints(const CheckpointFilter& filter) {
  BELAY_TRY(Place place, place_of(filter.tenant, filter.run));
  static const std::string columns = store::select_list<CheckpointRow>(
      "c", {{"parent_id",
             "iif(length(parent_id) = 0, (SELECT p.checkpoint_id FROM checkpoints p"
             " WHERE p.tenant_id = c.tenant_id AND p.run_number = c.run_number"
             " AND p.namespace = c.namespace AND p.seq = c.seq - 1), parent_id)"},
            {"session_id", "(SELECT session_id FROM sessions WHERE number = session_number)"},
            {"state_seq", "coalesce(state_seq, seq)"}});
  std::string sql = "SELECT " + columns +
                    ", c.chain_hash FROM checkpoints c"
                    " WHERE tenant_id = ? AND run_number = ? AND namespace = ?";
  if (filter.seq) sql += " AND seq = ?";
  if (filter.before_seq) sql += " AND seq < ?";
  sql += " ORDER BY seq DESC LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(place.tenant).bind(place.run).bind(filter.checkpoint_ns);
  if (filter.seq) rows.bind(*filter.seq);
  if (filter.before_seq) rows.bind(*filter.before_seq);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, CheckpointRow& checkpoint) {
    checkpoint.run = filter.run;
    return read_checkpoint(row, checkpoint);
  };
  return all_rows<CheckpointRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<EventRow>> SqliteSnapshot::events(const EventFilter& filter) {
  BELAY_TRY(Place place, place_of(filter.tenant, filter.run));
  static const std::string sql = "SELECT " + store::select_list<EventRow>("e") +
                                 " FROM events e WHERE tenant_id = ? AND run_number = ?"
                                 " AND (seq, event_index) > (?, ?)"
                                 " ORDER BY seq, event_index LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(place.tenant).bind(place.run).bind(filter.after_seq).bind(filter.after_index);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, EventRow& event) {
    event.run = filter.run;
    return read_fields(row, event);
  };
  return all_rows<EventRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<ApprovalRow>> SqliteSnapshot::approvals(const ApprovalFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  static const std::string columns =
      store::select_list<ApprovalRow>("a", {{"thread_id", "t.thread_id"},
                                            {"run_id", "r.run_id"},
                                            {"user_id", "s.user_id"},
                                            {"graph", "g.name"}});
  std::string sql = "SELECT " + columns + " FROM ";
  // Few approvals are open; one user's might be few among many.
  bool by_user = filter.user && !filter.interrupt && !filter.run && !filter.only_open;
  sql += by_user ? "run_starts s CROSS JOIN approvals a ON a.run_number = s.run_number"
                   " CROSS JOIN runs r ON r.run_number = s.run_number"
                 : "approvals a CROSS JOIN runs r ON r.run_number = a.run_number"
                   " CROSS JOIN run_starts s ON s.run_number = r.run_number";
  sql +=
      " CROSS JOIN threads t ON t.thread_number = r.thread_number"
      " CROSS JOIN graphs g ON g.graph_number = s.graph_number WHERE a.tenant_id = ?";
  if (filter.interrupt) sql += " AND a.interrupt_id = ?";
  if (filter.run) {
    sql += " AND a.run_number = (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?)";
  }
  if (filter.only_open) sql += " AND a.status = 'open'";
  if (filter.expired_at) sql += " AND a.expires_at <= ?";
  if (filter.user) sql += " AND s.tenant_id = ? AND s.user_id = ?";
  if (filter.between) sql += " AND a.interrupt_id BETWEEN ? AND ?";
  if (filter.before) {
    sql +=
        " AND a.approval_number <"
        " (SELECT approval_number FROM approvals WHERE tenant_id = ? AND interrupt_id = ?)";
  }
  ListConditions lists;
  lists.add("g.name IN", filter.graphs, text_itself);
  sql += lists.sql();
  sql += " ORDER BY a.approval_number DESC LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.interrupt) rows.bind(*filter.interrupt);
  if (filter.run) rows.bind(tenant).bind(*filter.run);
  if (filter.expired_at) rows.bind(*filter.expired_at);
  if (filter.user) rows.bind(tenant).bind(filter.user->text);
  if (filter.between) rows.bind(filter.between->first).bind(filter.between->second);
  if (filter.before) rows.bind(tenant).bind(*filter.before);
  lists.bind(rows);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, ApprovalRow& approval) {
    approval.tenant = filter.tenant;
    return read_fields(row, approval);
  };
  return all_rows<ApprovalRow>(connection_, std::move(rows), read_row);
}

}  // namespace belay::sqlite
