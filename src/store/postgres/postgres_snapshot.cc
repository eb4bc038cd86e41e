#include "store/postgres/postgres_snapshot.h"

#include <algorithm>

#include "store/stored_digest.h"

namespace belay::postgres {
namespace {

Result<Done> read_run(const Rows& rows, int row, RunRow& run) {
  run.run = RunId(rows.uuid(row, 0));
  run.thread = ThreadId(rows.text(row, 1));
  run.user = UserId(rows.text(row, 2));
  run.graph = rows.text(row, 3);
  run.graph_hash = rows.digest(row, 4);
  run.input = rows.text(row, 5);
  run.options = rows.text(row, 6);
  run.created_at = rows.instant(row, 7);
  BELAY_CHECK(read_enum(rows, row, 8, run.status));
  run.reason = rows.text(row, 9);
  run.outcome = rows.text(row, 10);
  run.error_code = rows.text(row, 11);
  run.error = rows.text(row, 12);
  run.seq = rows.natural(row, 13);
  run.epoch = rows.natural(row, 14);
  run.session = SessionId(rows.uuid(row, 15));
  run.checkpoint = CheckpointId(rows.uuid(row, 16));
  run.node = rows.text(row, 17);
  run.retry_count = rows.number(row, 18);
  run.worked_ms = rows.number(row, 19);
  run.updated_at = rows.instant(row, 20);
  run.due_at = rows.instant(row, 21);
  run.lost_claims = rows.number(row, 22);
  run.forked_from = RunId(rows.uuid(row, 23));
  run.forked_at = rows.natural(row, 24);
  run.queue = rows.text(row, 25);
  run.priority = rows.number(row, 26);
  run.concurrency_key = rows.text(row, 27);
  run.seal = rows.text(row, 28);
  run.start_seal = rows.text(row, 29);
  return Done{};
}

Result<Done> read_checkpoint(const Rows& rows, int row, CheckpointRow& checkpoint) {
  checkpoint.id = CheckpointId(rows.uuid(row, 0));
  checkpoint.parent = CheckpointId(rows.uuid(row, 1));
  checkpoint.checkpoint_ns = rows.text(row, 2);
  checkpoint.seq = rows.natural(row, 3);
  checkpoint.epoch = rows.natural(row, 4);
  checkpoint.session = SessionId(rows.uuid(row, 5));
  BELAY_CHECK(read_enum(rows, row, 6, checkpoint.kind));
  checkpoint.node = rows.text(row, 7);
  checkpoint.superstep = rows.number(row, 8);
  checkpoint.next_tasks = rows.text(row, 9);
  store::keep_hash(rows.text(row, 10), checkpoint);
  checkpoint.retry_count = rows.number(row, 11);
  BELAY_CHECK(read_enum(rows, row, 12, checkpoint.status));
  checkpoint.created_at = rows.instant(row, 13);
  checkpoint.state_seq = rows.natural(row, 14);
  return Done{};
}

Result<Done> read_approval(const Rows& rows, int row, ApprovalRow& approval) {
  approval.interrupt = InterruptId(rows.uuid(row, 0));
  approval.thread = ThreadId(rows.text(row, 1));
  approval.run = RunId(rows.uuid(row, 2));
  approval.task = TaskId(rows.uuid(row, 3));
  approval.user = UserId(rows.text(row, 4));
  approval.graph = rows.text(row, 5);
  approval.node = rows.text(row, 6);
  approval.question = rows.text(row, 7);
  approval.payload = rows.text(row, 8);
  approval.payload_hash = rows.digest(row, 9);
  approval.roles = rows.text(row, 10);
  approval.seq = rows.natural(row, 11);
  approval.created_at = rows.instant(row, 12);
  approval.expires_at = rows.instant(row, 13);
  BELAY_CHECK(read_enum(rows, row, 14, approval.status));
  approval.decided_by = rows.text(row, 15);
  approval.comment = rows.text(row, 16);
  approval.edited = rows.text(row, 17);
  approval.edited_hash = rows.digest(row, 18);
  approval.decided_at = rows.instant(row, 19);
  approval.on_behalf_of = rows.text(row, 20);
  approval.seal = rows.text(row, 21);
  approval.decision_seal = rows.text(row, 22);
  return Done{};
}

// The second condition makes the planner use the index of the runs that have not ended.
void add_statuses(Query& query, const std::vector<RunStatus>& statuses) {
  if (statuses.empty()) return;
  Column wanted(Type::text);
  for (RunStatus status : statuses) wanted.add(status);
  query.add(" AND r.status = ANY(?)", wanted);
  if (std::none_of(statuses.begin(), statuses.end(), is_final)) {
    query.add(" AND r.status IN ('queued', 'running', 'paused', 'quarantined')");
  }
}

// True if an index that begins with the user has the right order: runs are numbered in it in the
// order of their start, too.
bool is_by_start(const RunFilter& filter) {
  return filter.user && !filter.due_by && !filter.run && !filter.thread;
}

}  // namespace

void PostgresSnapshot::add_run_conditions(Query& query, const RunFilter& filter) {
  if (filter.run) query.add(" AND r.run_id = ?", *filter.run);
  if (filter.user) query.add(" AND s.user_id = ?", *filter.user);
  if (filter.thread) query.add(" AND r.thread_id = ?", *filter.thread);
  add_statuses(query, filter.statuses);
  if (filter.due_by) {
    query.add(" AND r.due_at IS NOT NULL AND r.due_at <= ? AND r.status IN ('queued', 'paused')",
              *filter.due_by);
  }
  if (filter.updated_before) query.add(" AND r.updated_at < ?", *filter.updated_before);
  if (filter.before) {
    query.add(is_by_start(filter)
                  ? " AND s.start_number < (SELECT b.start_number FROM belay.run_starts b"
                    " WHERE b.tenant = ? AND b.run_id = ?)"
                  : " AND r.run_number < (SELECT b.run_number FROM belay.runs b"
                    " WHERE b.tenant = ? AND b.run_id = ?)",
              filter.tenant, *filter.before);
  }
  auto text_of = [](const UserId& user) { return std::string_view(user.text); };
  add_texts(query, " AND r.queue = ANY(?)", filter.queues, text_itself);
  add_texts(query, " AND s.graph = ANY(?)", filter.graphs, text_itself);
  add_ids(query, " AND coalesce(r.session_id, '00000000-0000-0000-0000-000000000000') = ANY(?)",
          filter.owners);
  add_ids(query, " AND r.run_id <> ALL(?)", filter.except_runs);
  add_texts(query, " AND s.user_id <> ALL(?)", filter.except_users, text_of);
  add_texts(query, " AND r.concurrency_key <> ALL(?)", filter.except_keys, text_itself);
  add_texts(query, " AND r.queue <> ALL(?)", filter.except_queues, text_itself);
}

Result<Rows> PostgresSnapshot::ask(const Query& query) {
  if (failure_) return *failure_;
  bool begins = !std::exchange(has_begun_, true);
  if (begins) {
    connection_.send(claims_for_ ? "BEGIN ISOLATION LEVEL READ COMMITTED"
                                 : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // JIT compilation takes longer than any of these reads. The same statement checks that the
    // server is a primary: behind a pooler, this transaction can be on a standby.
    static const std::string asks =
        std::string(asks_for_writes) + ", set_config('jit', 'off', true)";
    connection_.send(connection_.tells_its_state() ? "SET LOCAL jit = off" : asks.c_str());
    // The marks of candidates need not be durable: if a crash of the server loses them, the runs
    // are only returned to another poll.
    if (claims_for_) connection_.send("SET LOCAL synchronous_commit = off");
  }
  connection_.send(query.sql(), query.parameters());
  auto given = connection_.sync();
  if (given.ok() && begins) {
    auto checked = connection_.check_primary((*given)[1]);
    if (!checked.ok()) given = std::move(checked).error();
  }
  if (given.ok()) return std::move(given->back());
  failure_ = given.error();
  return std::move(given).error();
}

Result<std::vector<ThreadRow>> PostgresSnapshot::threads(const ThreadFilter& filter) {
  Query query(
      "SELECT t.thread_id, t.user_id, t.graph, t.created_at,"
      " (SELECT r.run_id FROM belay.runs r WHERE r.tenant = t.tenant"
      "   AND r.thread_id = t.thread_id ORDER BY r.run_number DESC LIMIT 1), t.preserve,"
      " t.seal"
      " FROM belay.threads t");
  query.add(" WHERE t.tenant = ?", filter.tenant);
  if (filter.thread) query.add(" AND t.thread_id = ?", *filter.thread);
  if (filter.user) query.add(" AND t.user_id = ?", *filter.user);
  if (filter.before) {
    query.add(
        " AND t.thread_number <"
        " (SELECT b.thread_number FROM belay.threads b WHERE b.tenant = ? AND b.thread_id = ?)",
        filter.tenant, *filter.before);
  }
  query.add(" ORDER BY t.thread_number DESC LIMIT ?", filter.limit);
  return all<ThreadRow>(query, [&](const Rows& rows, int row, ThreadRow& thread) -> Result<Done> {
    thread.tenant = filter.tenant;
    thread.thread = ThreadId(rows.text(row, 0));
    thread.user = UserId(rows.text(row, 1));
    thread.graph = rows.text(row, 2);
    thread.created_at = rows.instant(row, 3);
    thread.last_run = RunId(rows.uuid(row, 4));
    thread.preserve = rows.boolean(row, 5);
    thread.seal = rows.text(row, 6);
    return Done{};
  });
}

Result<std::vector<RunRow>> PostgresSnapshot::runs(const RunFilter& filter) {
  Query query("SELECT r.run_id, r.thread_id, s.user_id, s.graph, s.graph_hash, ");
  query.add(filter.without_input ? "''::bytea, ''" : "s.input, s.options");
  query.add(
      ", s.created_at, r.status, r.reason, r.outcome, r.error_code, r.error, r.seq, r.epoch,"
      " r.session_id, r.checkpoint_id, r.node, r.retry_count, r.worked_ms, r.updated_at, r.due_at,"
      " r.lost_claims, s.forked_from, s.forked_at, r.queue, r.priority, r.concurrency_key,"
      " r.seal, s.seal");
  if (filter.due_by && filter.by_priority) {
    ask_by_priority(filter, query);
  } else {
    query.add(
        " FROM belay.runs r"
        " JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id");
    query.add(" WHERE r.tenant = ?", filter.tenant);
    add_run_conditions(query, filter);
    query.add(filter.due_by         ? " ORDER BY r.due_at, r.run_number"
              : is_by_start(filter) ? " ORDER BY s.start_number DESC"
                                    : " ORDER BY r.run_number DESC");
    query.add(" LIMIT ?", filter.limit);
  }
  return all<RunRow>(query, [&](const Rows& rows, int row, RunRow& run) {
    run.tenant = filter.tenant;
    return read_run(rows, row, run);
  });
}

Result<std::vector<CheckpointRow>> PostgresSnapshot::checkpoints(const CheckpointFilter& filter) {
  Query query(
      "SELECT checkpoint_id, parent_id, namespace, seq, epoch, session_id, kind, node, superstep,"
      " next_tasks, chain_hash, retry_count, status, created_at, state_seq FROM belay.checkpoints");
  query.add(" WHERE tenant = ? AND run_id = ? AND namespace = ?", filter.tenant, filter.run,
            filter.checkpoint_ns);
  if (filter.seq) query.add(" AND seq = ?", *filter.seq);
  if (filter.before_seq) query.add(" AND seq < ?", *filter.before_seq);
  query.add(" ORDER BY seq DESC LIMIT ?", filter.limit);
  return all<CheckpointRow>(query, [&](const Rows& rows, int row, CheckpointRow& checkpoint) {
    checkpoint.run = filter.run;
    return read_checkpoint(rows, row, checkpoint);
  });
}

Result<std::vector<EventRow>> PostgresSnapshot::events(const EventFilter& filter) {
  Query query("SELECT seq, event_index, type, body, created_at, seal FROM belay.events");
  query.add(
      " WHERE tenant = ? AND run_id = ? AND (seq, event_index) > (?, ?)"
      " ORDER BY seq, event_index LIMIT ?",
      filter.tenant, filter.run, filter.after_seq, filter.after_index, filter.limit);
  return all<EventRow>(query, [&](const Rows& rows, int row, EventRow& event) -> Result<Done> {
    event.run = filter.run;
    event.seq = rows.natural(row, 0);
    event.index = rows.number(row, 1);
    event.type = rows.text(row, 2);
    event.body = rows.text(row, 3);
    event.created_at = rows.instant(row, 4);
    event.seal = rows.text(row, 5);
    return Done{};
  });
}

Result<std::vector<ApprovalRow>> PostgresSnapshot::approvals(const ApprovalFilter& filter) {
  Query query(
      "SELECT a.interrupt_id, r.thread_id, a.run_id, a.task_id, s.user_id, s.graph, a.node,"
      " a.question, a.payload, a.payload_hash, a.roles, a.seq, a.created_at, a.expires_at,"
      " a.status, a.decided_by, a.comment, a.edited, a.edited_hash, a.decided_at,"
      " a.on_behalf_of, a.seal, a.decision_seal"
      " FROM belay.approvals a"
      " JOIN belay.runs r ON r.tenant = a.tenant AND r.run_id = a.run_id"
      " JOIN belay.run_starts s ON s.tenant = a.tenant AND s.run_id = a.run_id");
  query.add(" WHERE a.tenant = ?", filter.tenant);
  if (filter.interrupt) query.add(" AND a.interrupt_id = ?", *filter.interrupt);
  if (filter.run) query.add(" AND a.run_id = ?", *filter.run);
  if (filter.only_open) query.add(" AND a.status = 'open'");
  if (filter.expired_at) query.add(" AND a.expires_at <= ?", *filter.expired_at);
  if (filter.before) {
    query.add(
        " AND a.approval_number < (SELECT b.approval_number FROM belay.approvals b"
        " WHERE b.tenant = ? AND b.interrupt_id = ?)",
        filter.tenant, *filter.before);
  }
  add_texts(query, " AND s.graph = ANY(?)", filter.graphs, text_itself);
  if (filter.user) query.add(" AND s.user_id = ?", *filter.user);
  if (filter.between) {
    query.add(" AND a.interrupt_id BETWEEN ? AND ?", filter.between->first, filter.between->second);
  }
  // A run or a user has few; "+ 0" prevents the planner from scanning all of the tenant's in order.
  query.add(filter.run || filter.user || filter.between ? " ORDER BY a.approval_number + 0 DESC"
                                                        : " ORDER BY a.approval_number DESC");
  query.add(" LIMIT ?", filter.limit);
  return all<ApprovalRow>(query, [&](const Rows& rows, int row, ApprovalRow& approval) {
    approval.tenant = filter.tenant;
    return read_approval(rows, row, approval);
  });
}

}  // namespace belay::postgres
