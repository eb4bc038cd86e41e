// Statements of CommitWriter: runs, checkpoints, events, approvals.

#include "belay/value.h"
#include "store/sqlite/commit_writer.h"

namespace belay::sqlite {
namespace {

Statement& bind_number_or_null(Statement& statement, std::int64_t number) {
  return number == 0 ? statement.bind_null() : statement.bind(number);
}

// Binds null for the value that most rows have.
Statement& bind_unless(std::string_view usual, Statement& statement, const std::string& text) {
  return text == usual ? statement.bind_null() : statement.bind(text);
}

Statement& bind_instant_or_null(Statement& statement, Instant instant) {
  return instant == Instant{} ? statement.bind_null() : statement.bind(instant);
}

// An absent digest is stored as an empty blob, in an encrypted store as well.
Statement& bind_or_nothing(Statement& statement, const Digest& digest) {
  return digest == Digest{} ? statement.bind_blob("") : statement.bind(digest);
}

// JSON is stored as text, so that it is readable in the database; an envelope is stored as a blob.
Statement& bind_tasks(Statement& statement, const std::string& tasks) {
  return tasks.starts_with('[') ? statement.bind(tasks) : statement.bind_blob(tasks);
}

}  // namespace

Statement& bind_seal(Statement& statement, const std::string& seal) {
  return seal.empty() ? statement.bind_null() : statement.bind_blob(seal);
}

Result<bool> CommitWriter::update_run(const RunGuard& guard, const Place& place, const RunRow& run,
                                      std::int64_t session, bool same_status) {
  static constexpr std::string_view same =
      "UPDATE runs SET reason = ?, outcome = ?, error_code = ?, error = ?, seq = ?, epoch = ?,"
      " session_number = ?, node = ?, retry_count = ?, worked_ms = ?, updated_at = ?, due_at = ?,"
      " lost_claims = ?, seal = ? WHERE run_number = ? AND run_id = ? AND epoch = ? AND seq = ?"
      " AND status = ?";
  static constexpr std::string_view changed =
      "UPDATE runs SET reason = ?, outcome = ?, error_code = ?, error = ?, seq = ?, epoch = ?,"
      " session_number = ?, node = ?, retry_count = ?, worked_ms = ?, updated_at = ?, due_at = ?,"
      " lost_claims = ?, seal = ?, status = ?"
      " WHERE run_number = ? AND run_id = ? AND epoch = ? AND seq = ?";
  BELAY_TRY(Statement row, connection_.prepare(same_status ? same : changed));
  row.bind(run.reason).bind(run.outcome).bind(run.error_code).bind(run.error);
  row.bind(run.seq).bind(run.epoch);
  bind_number_or_null(row, session);
  row.bind(run.node).bind(run.retry_count).bind(run.worked_ms).bind(run.updated_at);
  bind_instant_or_null(row, run.due_at).bind(run.lost_claims);
  bind_seal(row, run.seal);
  if (!same_status) row.bind(run.status);
  row.bind(place.run).bind(run.run).bind(guard.epoch).bind(guard.seq);
  if (same_status) row.bind(run.status);
  BELAY_TRY(std::int64_t touched, connection_.run(std::move(row)));
  return touched == 1;
}

// The guard is part of the UPDATE's WHERE clause. An unchanged status is not written: the partial
// index of unfinished runs depends on `status`, and SQLite would remove the row from the index and
// insert it again. The cached status is that of our last commit, and another process might have
// changed it since: if the first UPDATE matches no row, the second one decides.
Result<bool> CommitWriter::move_run(const RunGuard& guard, const Place& place, const RunRow& run) {
  BELAY_TRY(std::int64_t session, session_number(run.session));
  auto known = runs_.find(run.run);
  bool is_known = known != runs_.end() && known->second.place.run == place.run;
  bool moved = false;
  if (!is_known || !known->second.status || known->second.status == run.status) {
    BELAY_TRY(moved, update_run(guard, place, run, session, true));
  }
  if (!moved) {
    BELAY_TRY(moved, update_run(guard, place, run, session, false));
  }
  if (is_known) known->second.status = moved ? std::optional(run.status) : std::nullopt;
  return moved;
}

Result<Done> CommitWriter::insert_thread(std::int64_t tenant, const ThreadRow& thread) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO threads (tenant_id, thread_id, user_id, graph,"
                                " created_at, preserve, title, metadata, expires_at, updated_at,"
                                " seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(tenant).bind(thread.thread.text).bind(thread.user.text).bind(thread.graph);
  row.bind(thread.created_at).bind(std::int64_t{thread.preserve});
  row.bind(thread.title).bind(thread.metadata);
  bind_instant_or_null(row, thread.expires_at);
  bind_instant_or_null(row, thread.updated_at);
  bind_seal(row, thread.seal);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// An edit that is sent again has been applied if it finds its own values.
Result<std::optional<CommitOutcome>> CommitWriter::outcome_of_edit(std::int64_t tenant,
                                                                   const CommitRows& rows) {
  using Outcome = std::optional<CommitOutcome>;
  if (!rows.thread_edit) return Outcome();
  const ThreadRow& wanted = rows.thread_edit->row;
  BELAY_TRY(Statement row,
            connection_.prepare("SELECT updated_at, expires_at, title, metadata, seal FROM threads"
                                " WHERE tenant_id = ? AND thread_id = ?"));
  row.bind(tenant).bind(wanted.thread.text);
  Statement::Step step = row.step();
  if (step == Statement::Step::failed) return connection_.error();
  if (step == Statement::Step::done) return Outcome(CommitOutcome::thread_changed);
  bool is_applied = row.instant(0) == wanted.updated_at && row.instant(1) == wanted.expires_at &&
                    row.text(2) == wanted.title && row.text(3) == wanted.metadata &&
                    row.text(4) == wanted.seal;
  if (is_applied || row.instant(0) == rows.thread_edit->expected_updated_at) return Outcome();
  return Outcome(CommitOutcome::thread_changed);
}

Result<Done> CommitWriter::edit_thread(std::int64_t tenant, const ThreadRow& thread) {
  BELAY_TRY(Statement row,
            connection_.prepare("UPDATE threads SET title = ?, metadata = ?, expires_at = ?,"
                                " updated_at = ?, seal = ? WHERE tenant_id = ?"
                                " AND thread_id = ?"));
  row.bind(thread.title).bind(thread.metadata);
  bind_instant_or_null(row, thread.expires_at);
  bind_instant_or_null(row, thread.updated_at);
  bind_seal(row, thread.seal).bind(tenant).bind(thread.thread.text);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

Result<std::int64_t> CommitWriter::insert_run(std::int64_t tenant, const RunRow& run) {
  BELAY_TRY(std::int64_t thread, thread_number(tenant, run.thread));
  BELAY_TRY(std::int64_t graph, graph_number(tenant, run));
  BELAY_TRY(std::int64_t session, session_number(run.session));
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO runs (tenant_id, run_id, thread_number, status,"
                                " reason, outcome, error_code, error, seq, epoch, session_number,"
                                " node, retry_count, worked_ms, updated_at, due_at, lost_claims,"
                                " queue, priority, concurrency_key, seal) VALUES (?, ?, ?, ?, ?,"
                                " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(tenant).bind(run.run).bind(thread).bind(run.status).bind(run.reason);
  row.bind(run.outcome).bind(run.error_code).bind(run.error).bind(run.seq).bind(run.epoch);
  bind_number_or_null(row, session);
  row.bind(run.node).bind(run.retry_count).bind(run.worked_ms).bind(run.updated_at);
  bind_instant_or_null(row, run.due_at).bind(run.lost_claims);
  bind_unless(default_queue, row, run.queue).bind(run.priority);
  bind_unless("", row, run.concurrency_key);
  bind_seal(row, run.seal);
  BELAY_CHECK(connection_.run(std::move(row)));
  std::int64_t number = connection_.last_inserted();

  BELAY_TRY(Statement start,
            connection_.prepare("INSERT INTO run_starts (run_number, user_id, graph_number, input,"
                                " options, created_at, forked_from, forked_at, tenant_id, ordinal,"
                                " seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  start.bind(number).bind(run.user.text).bind(graph).bind_blob(run.input).bind(run.options);
  start.bind(run.created_at).bind_or_null(run.forked_from);
  bind_number_or_null(start, clamped(run.forked_at)).bind(tenant).bind(run.ordinal);
  bind_seal(start, run.start_seal);
  BELAY_CHECK(connection_.run(std::move(start)));
  runs_.insert_or_assign(run.run, KnownRun{Place{tenant, number}, run.status});
  return number;
}

Result<Done> CommitWriter::write_children(const Place& place, const CommitRows& rows,
                                          CheckpointId before) {
  for (const CheckpointRow& earlier : rows.earlier) {
    BELAY_CHECK(insert_checkpoint(place, earlier, before));
    before = earlier.id;
  }
  BELAY_CHECK(insert_checkpoint(place, *rows.checkpoint, before));
  BELAY_CHECK(write_work(place, rows));
  for (const EventRow& event : rows.events) BELAY_CHECK(insert_event(place, event));
  for (const OutboxRow& message : rows.outbox) BELAY_CHECK(insert_message(place, message));
  if (rows.decided) BELAY_CHECK(decide(place.tenant, *rows.decided));
  for (const ApprovalRow& approval : rows.opened) BELAY_CHECK(insert_approval(place, approval));
  if (rows.ends_run) BELAY_CHECK(end_run(place, rows.run->updated_at));
  return put_records(place, rows);
}

Result<Done> CommitWriter::insert_checkpoint(const Place& place, const CheckpointRow& checkpoint,
                                             const CheckpointId& before) {
  BELAY_TRY(std::int64_t session, session_number(checkpoint.session));
  BELAY_TRY(Statement row,
            connection_.prepare(
                "INSERT INTO checkpoints (tenant_id, run_number, seq, checkpoint_id, parent_id,"
                " namespace, epoch, session_number, kind, node, superstep, next_tasks, chain_hash,"
                " retry_count, status, created_at, state_seq)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(place.tenant).bind(place.run).bind(checkpoint.seq).bind(checkpoint.id);
  if (!checkpoint.parent.is_null() && checkpoint.parent == before) {
    row.bind_blob("");
  } else {
    row.bind_or_null(checkpoint.parent);
  }
  row.bind(checkpoint.checkpoint_ns).bind(checkpoint.epoch);
  bind_number_or_null(row, session);
  row.bind(checkpoint.kind).bind(checkpoint.node).bind(checkpoint.superstep);
  bind_tasks(row, checkpoint.next_tasks);
  if (checkpoint.masked_hash.empty()) {
    row.bind(checkpoint.chain_hash);
  } else {
    row.bind_blob(checkpoint.masked_hash);
  }
  row.bind(checkpoint.retry_count);
  row.bind(checkpoint.status).bind(checkpoint.created_at);
  if (checkpoint.state_seq == checkpoint.seq) {
    row.bind_null();
  } else {
    row.bind(checkpoint.state_seq);
  }
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

Result<Done> CommitWriter::insert_event(const Place& place, const EventRow& event) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO events (tenant_id, run_number, seq, event_index,"
                                " type, body, created_at, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(place.tenant).bind(place.run).bind(event.seq).bind(event.index);
  row.bind(event.type).bind(event.body).bind(event.created_at);
  bind_seal(row, event.seal);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

Result<Done> CommitWriter::insert_approval(const Place& place, const ApprovalRow& approval) {
  BELAY_TRY(Statement row,
            connection_.prepare(
                "INSERT INTO approvals (tenant_id, interrupt_id, run_number, task_id, node,"
                " question, payload, payload_hash, roles, seq, created_at, expires_at, status,"
                " decided_by, comment, edited, edited_hash, decided_at, on_behalf_of, seal,"
                " decision_seal)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(place.tenant).bind(approval.interrupt).bind(place.run).bind(approval.task);
  row.bind(approval.node).bind(approval.question).bind_blob(approval.payload);
  bind_or_nothing(row, approval.payload_hash).bind(approval.roles).bind(approval.seq);
  row.bind(approval.created_at).bind(approval.expires_at).bind(approval.status);
  // An open approval has votes if it needs several decisions.
  if (approval.status == ApprovalStatus::open && approval.edited.empty()) {
    for (int column = 0; column < 6; ++column) row.bind_null();
  } else {
    row.bind(approval.decided_by).bind(approval.comment).bind_blob(approval.edited);
    bind_or_nothing(row, approval.edited_hash).bind(approval.decided_at);
    bind_unless("", row, approval.on_behalf_of);
  }
  bind_seal(row, approval.seal);
  bind_seal(row, approval.decision_seal);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// Applied last: the same commit might request an approval or start an effect.
Result<Done> CommitWriter::end_run(const Place& place, Instant now) {
  BELAY_TRY(Statement open, connection_.prepare("UPDATE approvals SET status = 'closed' WHERE"
                                                " tenant_id = ? AND run_number = ?"
                                                " AND status = 'open'"));
  open.bind(place.tenant).bind(place.run);
  BELAY_CHECK(connection_.run(std::move(open)));
  BELAY_TRY(Statement intended, connection_.prepare("UPDATE effects SET status = 'uncertain',"
                                                    " updated_at = max(updated_at, ?)"
                                                    " WHERE tenant_id = ? AND run_number = ?"
                                                    " AND status = 'intended'"));
  intended.bind(now).bind(place.tenant).bind(place.run);
  BELAY_CHECK(connection_.run(std::move(intended)));
  return Done{};
}

Result<Done> CommitWriter::decide(std::int64_t tenant, const ApprovalRow& decision) {
  BELAY_TRY(Statement row,
            connection_.prepare("UPDATE approvals SET status = ?, decided_by = ?, comment = ?,"
                                " edited = ?, edited_hash = ?, decided_at = ?, on_behalf_of = ?,"
                                " decision_seal = ? WHERE tenant_id = ? AND interrupt_id = ?"));
  row.bind(decision.status).bind(decision.decided_by).bind(decision.comment);
  if (decision.edited.empty()) {
    row.bind_null();
  } else {
    row.bind_blob(decision.edited);
  }
  if (decision.edited_hash == Digest{}) {
    row.bind_null();
  } else {
    row.bind(decision.edited_hash);
  }
  row.bind(decision.decided_at);
  bind_unless("", row, decision.on_behalf_of);
  bind_seal(row, decision.decision_seal).bind(tenant).bind(decision.interrupt);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

}  // namespace belay::sqlite
