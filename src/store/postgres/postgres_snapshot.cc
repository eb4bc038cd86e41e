#include "store/postgres/postgres_snapshot.h"

#include <algorithm>

#include "store/stored_digest.h"

namespace belay::postgres {
namespace {

Result<Done> read_checkpoint(const Rows& rows, int row, CheckpointRow& checkpoint) {
  BELAY_CHECK(read_fields(rows, row, checkpoint));
  store::keep_hash(rows.text(row, store::column_count<CheckpointRow>()), checkpoint);
  return Done{};
}

// Returns the columns of a run; without its input and options if they are not needed.
std::string run_columns(bool without_input) {
  return store::select_list<RunRow>("r", {{"user_id", "s.user_id"},
                                          {"graph", "s.graph"},
                                          {"graph_hash", "s.graph_hash"},
                                          {"input", without_input ? "''::bytea" : "s.input"},
                                          {"options", without_input ? "''" : "s.options"},
                                          {"created_at", "s.created_at"},
                                          {"forked_from", "s.forked_from"},
                                          {"forked_at", "s.forked_at"},
                                          {"ordinal", "s.ordinal"},
                                          {"start_seal", "s.seal"}});
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

// The condition of the partial index of runs that have not ended is verbatim that of the index. The
// subquery names the thread itself, not the row's: otherwise it would be executed for each run of
// the thread.
constexpr std::string_view is_current =
    " AND r.run_number = (SELECT e.run_number FROM belay.runs e WHERE e.tenant = ?"
    " AND e.thread_id = ?"
    " AND e.status IN ('queued', 'running', 'paused', 'quarantined')"
    " ORDER BY e.run_number LIMIT 1)";
// Without runs that wait for the end of earlier runs of their thread. In this form the subquery
// adds least to the planning of a poll.
constexpr std::string_view is_due =
    " AND r.due_at IS NOT NULL AND r.due_at <= ? AND r.status IN ('queued', 'paused')"
    " AND CASE WHEN s.ordinal > 0 AND r.node = '' THEN (SELECT 1 FROM belay.runs e"
    "   WHERE e.tenant = r.tenant AND e.thread_id = r.thread_id"
    "   AND e.run_number < r.run_number"
    "   AND e.status IN ('queued', 'running', 'paused', 'quarantined') LIMIT 1) IS NULL"
    "   ELSE true END";

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
  if (filter.thread && filter.only_current) query.add(is_current, filter.tenant, *filter.thread);
  if (filter.due_by) query.add(is_due, *filter.due_by);
  if (filter.updated_before) query.add(" AND r.updated_at < ?", *filter.updated_before);
  if (filter.before) {
    query.add(is_by_start(filter)
                  ? " AND s.start_number < (SELECT b.start_number FROM belay.run_starts b"
                    " WHERE b.tenant = ? AND b.run_id = ?)"
                  : " AND r.run_number < (SELECT b.run_number FROM belay.runs b"
                    " WHERE b.tenant = ? AND b.run_id = ?)",
              filter.tenant, *filter.before);
  }
  if (filter.in_pages) {
    query.add(" AND r.status IN ('queued', 'running', 'paused', 'quarantined')");
  }
  if (filter.in_pages && filter.after) {
    query.add(
        " AND (r.thread_id, r.run_number) >"
        " ((SELECT b.thread_id FROM belay.runs b WHERE b.tenant = ? AND b.run_id = ?),"
        "  (SELECT b.run_number FROM belay.runs b WHERE b.tenant = ? AND b.run_id = ?))",
        filter.tenant, *filter.after, filter.tenant, *filter.after);
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
  bool begins = !std::exchange(has_started_, true);
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
  connection_.send(query.sql(), query.parameters(), query.plan());
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
  static const std::string columns = store::select_list<ThreadRow>(
      "t", {{"last_run",
             "(SELECT r.run_id FROM belay.runs r WHERE r.tenant = t.tenant"
             " AND r.thread_id = t.thread_id ORDER BY r.run_number DESC LIMIT 1)"}});
  Query query("SELECT " + columns + " FROM belay.threads t");
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
  if (filter.thread) query.keep_plan();
  return all<ThreadRow>(query, [&](const Rows& rows, int row, ThreadRow& thread) {
    thread.tenant = filter.tenant;
    return read_fields(rows, row, thread);
  });
}

Result<std::vector<RunRow>> PostgresSnapshot::runs(const RunFilter& filter) {
  static const std::string whole = run_columns(false);
  static const std::string reduced = run_columns(true);
  Query query("SELECT " + (filter.without_input ? reduced : whole));
  if (filter.due_by && filter.by_priority) {
    ask_by_priority(filter, query);
  } else {
    query.add(
        " FROM belay.runs r"
        " JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id");
    query.add(" WHERE r.tenant = ?", filter.tenant);
    add_run_conditions(query, filter);
    query.add(filter.in_pages       ? " ORDER BY r.thread_id, r.run_number"
              : filter.due_by       ? " ORDER BY r.due_at, r.run_number"
              : is_by_start(filter) ? " ORDER BY s.start_number DESC"
                                    : " ORDER BY r.run_number DESC");
    query.add(" LIMIT ?", filter.limit);
    if (filter.run) query.keep_plan();
  }
  return all<RunRow>(query, [&](const Rows& rows, int row, RunRow& run) {
    run.tenant = filter.tenant;
    return read_fields(rows, row, run);
  });
}

Result<std::vector<CheckpointRow>> PostgresSnapshot::checkpoints(const CheckpointFilter& filter) {
  static const std::string columns = store::select_list<CheckpointRow>("c");
  Query query("SELECT " + columns + ", c.chain_hash FROM belay.checkpoints c");
  query.add(" WHERE tenant = ? AND run_id = ? AND namespace = ?", filter.tenant, filter.run,
            filter.checkpoint_ns);
  if (filter.seq) query.add(" AND seq = ?", *filter.seq);
  if (filter.before_seq) query.add(" AND seq < ?", *filter.before_seq);
  query.add(" ORDER BY seq DESC LIMIT ?", filter.limit).keep_plan();
  return all<CheckpointRow>(query, [&](const Rows& rows, int row, CheckpointRow& checkpoint) {
    checkpoint.run = filter.run;
    return read_checkpoint(rows, row, checkpoint);
  });
}

Result<std::vector<EventRow>> PostgresSnapshot::events(const EventFilter& filter) {
  static const std::string columns = store::select_list<EventRow>("e");
  Query query("SELECT " + columns + " FROM belay.events e");
  query.add(
      " WHERE tenant = ? AND run_id = ? AND (seq, event_index) > (?, ?)"
      " ORDER BY seq, event_index LIMIT ?",
      filter.tenant, filter.run, filter.after_seq, filter.after_index, filter.limit);
  query.keep_plan();
  return all<EventRow>(query, [&](const Rows& rows, int row, EventRow& event) {
    event.run = filter.run;
    return read_fields(rows, row, event);
  });
}

Result<std::vector<ApprovalRow>> PostgresSnapshot::approvals(const ApprovalFilter& filter) {
  static const std::string columns = store::select_list<ApprovalRow>(
      "a", {{"thread_id", "r.thread_id"}, {"user_id", "s.user_id"}, {"graph", "s.graph"}});
  Query query("SELECT " + columns +
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
  if (filter.run || filter.interrupt) query.keep_plan();
  return all<ApprovalRow>(query, [&](const Rows& rows, int row, ApprovalRow& approval) {
    approval.tenant = filter.tenant;
    return read_fields(rows, row, approval);
  });
}

}  // namespace belay::postgres
