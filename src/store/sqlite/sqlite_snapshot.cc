#include "store/sqlite/sqlite_snapshot.h"

#include <algorithm>

#include "store/sqlite/list_conditions.h"
#include "store/sqlite/read_rows.h"
#include "store/stored_digest.h"

namespace belay::sqlite {
namespace {

Result<Done> read_run(const Statement& row, RunRow& run) {
  run.run = RunId(row.uuid(0));
  run.thread = ThreadId(row.text(1));
  run.user = UserId(row.text(2));
  run.graph = row.text(3);
  run.graph_hash = row.digest(4);
  run.input = row.text(5);
  run.options = row.text(6);
  run.created_at = row.instant(7);
  BELAY_CHECK(read_enum(row, 8, run.status));
  run.reason = row.text(9);
  run.outcome = row.text(10);
  run.error_code = row.text(11);
  run.error = row.text(12);
  run.seq = row.natural(13);
  run.epoch = row.natural(14);
  run.session = SessionId(row.uuid(15));
  run.checkpoint = CheckpointId(row.uuid(16));
  run.node = row.text(17);
  run.retry_count = row.number(18);
  run.worked_ms = row.number(19);
  run.updated_at = row.instant(20);
  run.due_at = row.instant(21);
  run.lost_claims = row.number(22);
  run.forked_from = RunId(row.uuid(23));
  run.forked_at = row.natural(24);
  run.queue = row.text(25);
  run.priority = row.number(26);
  run.concurrency_key = row.text(27);
  run.seal = row.text(28);
  run.start_seal = row.text(29);
  return Done{};
}

Result<Done> read_checkpoint(const Statement& row, CheckpointRow& checkpoint) {
  checkpoint.id = CheckpointId(row.uuid(0));
  checkpoint.parent = CheckpointId(row.uuid(1));
  checkpoint.checkpoint_ns = row.text(2);
  checkpoint.seq = row.natural(3);
  checkpoint.epoch = row.natural(4);
  checkpoint.session = SessionId(row.uuid(5));
  BELAY_CHECK(read_enum(row, 6, checkpoint.kind));
  checkpoint.node = row.text(7);
  checkpoint.superstep = row.number(8);
  checkpoint.next_tasks = row.text(9);
  store::keep_hash(row.text(10), checkpoint);
  checkpoint.retry_count = row.number(11);
  BELAY_CHECK(read_enum(row, 12, checkpoint.status));
  checkpoint.created_at = row.instant(13);
  checkpoint.state_seq = row.natural(14);
  return Done{};
}

Result<Done> read_approval(const Statement& row, ApprovalRow& approval) {
  approval.interrupt = InterruptId(row.uuid(0));
  approval.thread = ThreadId(row.text(1));
  approval.run = RunId(row.uuid(2));
  approval.task = TaskId(row.uuid(3));
  approval.user = UserId(row.text(4));
  approval.graph = row.text(5);
  approval.node = row.text(6);
  approval.question = row.text(7);
  approval.payload = row.text(8);
  approval.payload_hash = row.digest(9);
  approval.roles = row.text(10);
  approval.seq = row.natural(11);
  approval.created_at = row.instant(12);
  approval.expires_at = row.instant(13);
  BELAY_CHECK(read_enum(row, 14, approval.status));
  approval.decided_by = row.text(15);
  approval.comment = row.text(16);
  approval.edited = row.text(17);
  approval.edited_hash = row.digest(18);
  approval.decided_at = row.instant(19);
  approval.on_behalf_of = row.text(20);
  approval.seal = row.text(21);
  approval.decision_seal = row.text(22);
  return Done{};
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
  std::string sql =
      "SELECT t.thread_id, t.user_id, t.graph, t.created_at,"
      " (SELECT run_id FROM runs WHERE run_number = (SELECT max(run_number) FROM runs r"
      "   WHERE r.tenant_id = t.tenant_id AND r.thread_number = t.thread_number)), t.preserve,"
      " t.seal"
      " FROM threads t WHERE t.tenant_id = ?";
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
  auto read_row = [&](const Statement& row, ThreadRow& thread) -> Result<Done> {
    thread.tenant = filter.tenant;
    thread.thread = ThreadId(row.text(0));
    thread.user = UserId(row.text(1));
    thread.graph = row.text(2);
    thread.created_at = row.instant(3);
    thread.last_run = RunId(row.uuid(4));
    thread.preserve = row.number(5) != 0;
    thread.seal = row.text(6);
    return Done{};
  };
  return all_rows<ThreadRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<RunRow>> SqliteSnapshot::runs(const RunFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  // Few runs have not ended; one user's might be few among many.
  bool is_unfinished = !filter.statuses.empty() &&
                       std::none_of(filter.statuses.begin(), filter.statuses.end(), is_final);
  bool by_user = filter.user && !filter.run && !filter.thread && !filter.due_by && !is_unfinished;
  std::string sql = "SELECT r.run_id, t.thread_id, s.user_id, g.name, g.content_hash, ";
  sql += filter.without_input ? "x'', ''" : "s.input, s.options";
  sql +=
      ", s.created_at, r.status, r.reason, r.outcome, r.error_code, r.error, r.seq, r.epoch,"
      " (SELECT session_id FROM sessions WHERE number = r.session_number),"
      " (SELECT checkpoint_id FROM checkpoints c WHERE c.tenant_id = r.tenant_id"
      "   AND c.run_number = r.run_number AND c.namespace = '' AND c.seq = r.seq),"
      " r.node, r.retry_count, r.worked_ms, r.updated_at, r.due_at, r.lost_claims,"
      " s.forked_from, s.forked_at, coalesce(r.queue, 'default'), r.priority, r.concurrency_key,"
      " r.seal, s.seal FROM ";
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
  if (filter.due_by) {
    sql += " AND r.due_at IS NOT NULL AND r.due_at <= ? AND r.status IN ('queued', 'paused')";
  }
  if (filter.updated_before) sql += " AND r.updated_at < ?";
  if (filter.before) {
    sql += " AND r.run_number < (SELECT run_number FROM runs WHERE tenant_id = ? AND run_id = ?)";
  }
  ListConditions lists = lists_of(filter);
  sql += lists.sql();
  sql += by_user              ? " ORDER BY s.run_number DESC LIMIT ?"
         : !filter.due_by     ? " ORDER BY r.run_number DESC LIMIT ?"
         : filter.by_priority ? " ORDER BY r.priority DESC, r.due_at, r.run_number LIMIT ?"
                              : " ORDER BY r.due_at, r.run_number LIMIT ?";
  BELAY_TRY(Statement rows, connection_.prepare(sql));
  rows.bind(tenant);
  if (filter.user) rows.bind(tenant).bind(filter.user->text);
  if (filter.run) rows.bind(*filter.run);
  if (filter.thread) rows.bind(tenant).bind(filter.thread->text);
  for (RunStatus status : filter.statuses) rows.bind(status);
  if (filter.due_by) rows.bind(*filter.due_by);
  if (filter.updated_before) rows.bind(*filter.updated_before);
  if (filter.before) rows.bind(tenant).bind(*filter.before);
  lists.bind(rows);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, RunRow& run) {
    run.tenant = filter.tenant;
    return read_run(row, run);
  };
  return all_rows<RunRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<CheckpointRow>> SqliteSnapshot::checkpoints(const CheckpointFilter& filter) {
  BELAY_TRY(Place place, place_of(filter.tenant, filter.run));
  std::string sql =
      "SELECT checkpoint_id,"
      " iif(length(parent_id) = 0, (SELECT p.checkpoint_id FROM checkpoints p"
      "   WHERE p.tenant_id = c.tenant_id AND p.run_number = c.run_number"
      "   AND p.namespace = c.namespace AND p.seq = c.seq - 1), parent_id),"
      " namespace, seq, epoch,"
      " (SELECT session_id FROM sessions WHERE number = session_number),"
      " kind, node, superstep, next_tasks, chain_hash, retry_count, status, created_at,"
      " coalesce(state_seq, seq)"
      " FROM checkpoints c WHERE tenant_id = ? AND run_number = ? AND namespace = ?";
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
  BELAY_TRY(Statement rows,
            connection_.prepare("SELECT seq, event_index, type, body, created_at, seal FROM events"
                                " WHERE tenant_id = ? AND run_number = ?"
                                " AND (seq, event_index) > (?, ?)"
                                " ORDER BY seq, event_index LIMIT ?"));
  rows.bind(place.tenant).bind(place.run).bind(filter.after_seq).bind(filter.after_index);
  rows.bind(filter.limit);
  auto read_row = [&](const Statement& row, EventRow& event) -> Result<Done> {
    event.run = filter.run;
    event.seq = row.natural(0);
    event.index = row.number(1);
    event.type = row.text(2);
    event.body = row.text(3);
    event.created_at = row.instant(4);
    event.seal = row.text(5);
    return Done{};
  };
  return all_rows<EventRow>(connection_, std::move(rows), read_row);
}

Result<std::vector<ApprovalRow>> SqliteSnapshot::approvals(const ApprovalFilter& filter) {
  BELAY_TRY(std::int64_t tenant, tenant_number(filter.tenant));
  std::string sql =
      "SELECT a.interrupt_id, t.thread_id, r.run_id, a.task_id, s.user_id, g.name, a.node,"
      " a.question, a.payload, a.payload_hash, a.roles, a.seq, a.created_at, a.expires_at,"
      " a.status, a.decided_by, a.comment, a.edited, a.edited_hash, a.decided_at,"
      " a.on_behalf_of, a.seal, a.decision_seal"
      " FROM ";
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
    return read_approval(row, approval);
  };
  return all_rows<ApprovalRow>(connection_, std::move(rows), read_row);
}

}  // namespace belay::sqlite
