// Long on purpose: the steps of one commit, in their order.
//
// Applies one commit under locks. READ COMMITTED: each statement sees the rows that are committed
// when it starts, and a SELECT that waited for a lock reads the row again. The locked run therefore
// cannot change between its guard and COMMIT; rows that are read without a lock are protected by
// the lock on their run.

#include "store/postgres/commit_writer.h"

#include <algorithm>

#include "store/commit_check.h"
#include "store/postgres/concurrency.h"
#include "store/postgres/envelopes.h"
#include "store/postgres/prune.h"
#include "store/postgres/row_batch.h"

namespace belay::postgres {
namespace {

bool guard_holds(const RunGuard& guard, std::uint64_t epoch, std::uint64_t seq) {
  return guard.epoch == epoch && guard.seq == seq;
}

}  // namespace

Result<CommitOutcome> CommitWriter::apply(const Commit& commit) {
  if (!commit.run_guard) return apply_without_run(commit);
  if (!commit.run_guard->pending_for.is_null()) return apply_pending(commit);
  BELAY_TRY(std::optional<LockedRun> standing, lock_run(commit.tenant, commit.rows.run->run));
  if (standing) return apply_next(commit, *standing);
  if (commit.run_guard->seq != 0 || commit.run_guard->epoch != 0) return CommitOutcome::fenced;
  return apply_first(commit);
}

// No row of the run exists that could be locked. Of two transactions that insert the same run or
// thread, one waits for the other at its INSERT, which then inserts nothing and divides by zero
// (row_batch.cc).
Result<CommitOutcome> CommitWriter::apply_first(const Commit& commit) {
  const RunRow& run = *commit.rows.run;
  if (commit.thread_guard) {
    BELAY_TRY(bool is_newest, thread_guard_holds(commit.tenant, *commit.thread_guard));
    if (!is_newest) return outcome_of_refused_start(commit, CommitOutcome::thread_changed);
  }
  BELAY_TRY(bool is_there, is_thread(commit.tenant, run.thread));
  if (commit.rows.thread && is_there) {
    return outcome_of_refused_start(commit, CommitOutcome::exists);
  }
  if (!commit.rows.thread && !is_there) return store::no_such_thread(run.thread);
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(verdict, check_approval_guard(commit));
  }
  if (!verdict.rows) return verdict.outcome;
  BELAY_TRY(bool has_place, find_places(commit, *verdict.rows, nullptr));
  if (!has_place) return CommitOutcome::limit_reached;
  BELAY_TRY(auto of_records, outcome_of_versions(commit, *verdict.rows));
  if (of_records) return outcome_of_refused_start(commit, *of_records);
  BELAY_CHECK(check_opened(commit.tenant, *verdict.rows));
  if (verdict.rows->decided) decide(commit.tenant, *verdict.rows->decided);
  RowBatch rows;
  if (verdict.rows->thread) rows.add_thread(*verdict.rows->thread);
  rows.add_run(*verdict.rows->run);
  rows.add_start(*verdict.rows->run);
  rows.add_children(commit, *verdict.rows);
  rows.send(connection_);
  BELAY_CHECK(connection_.sync());
  return verdict.outcome;
}

// The order of the checks defines the outcome of a commit for which several fail; it must be the
// outcome of the other stores. Nothing is written before all of them hold.
Result<CommitOutcome> CommitWriter::apply_next(const Commit& commit, const LockedRun& standing) {
  if (!guard_holds(*commit.run_guard, standing.epoch, standing.seq))
    return outcome_of_moved_run(commit);
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(verdict, check_approval_guard(commit));
    if (!verdict.rows) return verdict.outcome;
  }
  BELAY_TRY(bool all_open, are_open(commit.tenant, commit.require_open));
  if (!all_open) return CommitOutcome::approval_closed;
  BELAY_TRY(bool has_place, find_places(commit, *verdict.rows, &standing));
  if (!has_place) return CommitOutcome::limit_reached;
  BELAY_TRY(auto of_records, outcome_of_versions(commit, *verdict.rows));
  if (of_records) return *of_records;
  BELAY_CHECK(check_opened(commit.tenant, *verdict.rows));
  move_run(*verdict.rows->run);
  BELAY_CHECK(write_guarded(commit, *verdict.rows));
  return verdict.outcome;
}

// If the run is already running, it has been counted; only a commit that makes it running needs
// capacity.
Result<bool> CommitWriter::find_places(const Commit& commit, const CommitRows& rows,
                                       const LockedRun* standing) {
  bool begins = rows.run->status == RunStatus::running &&
                !(standing && standing->status == RunStatus::running);
  if (!begins || commit.concurrency.empty()) return true;
  return has_capacity(connection_, commit);
}

Result<CommitOutcome> CommitWriter::apply_pending(const Commit& commit) {
  BELAY_TRY(std::optional<LockedRun> standing,
            lock_run(commit.tenant, commit.run_guard->pending_for));
  if (!standing || !guard_holds(*commit.run_guard, standing->epoch, standing->seq)) {
    return CommitOutcome::fenced;
  }
  BELAY_TRY(CommitRows rows, without_asked(commit));
  BELAY_CHECK(write_guarded(commit, rows));
  return CommitOutcome::applied;
}

// Writes the rows of a commit other than its thread and run, in the order of the other stores: the
// decision, the approvals that it opens, and last the closing of an ended run's open approvals.
Result<Done> CommitWriter::write_guarded(const Commit& commit, const CommitRows& rows) {
  if (rows.decided) decide(commit.tenant, *rows.decided);
  RowBatch batch;
  batch.add_children(commit, rows);
  // As of an import: no commit of the run has saved them.
  if (!rows.run) batch.add_records(commit.tenant, rows, now_);
  batch.send(connection_);
  BELAY_CHECK(connection_.sync());
  return Done{};
}

Result<CommitOutcome> CommitWriter::apply_without_run(const Commit& commit) {
  if (commit.rows.thread) {
    BELAY_TRY(bool is_there, is_thread(commit.tenant, commit.rows.thread->thread));
    if (is_there) return CommitOutcome::exists;
  }
  GuardResult verdict{&commit.rows};
  if (commit.approval_guard) {
    BELAY_TRY(verdict, check_approval_guard(commit));
  }
  if (!verdict.rows) return verdict.outcome;
  BELAY_TRY(auto of_edit, outcome_of_edit(commit.tenant, *verdict.rows));
  if (of_edit) return *of_edit;
  BELAY_TRY(auto of_records, outcome_of_versions(commit, *verdict.rows));
  if (of_records) return *of_records;
  // The guard is part of the UPDATE: of several deliveries of a message, one moves the row.
  if (commit.message_guard) {
    BELAY_TRY(bool moved, move_message(commit, verdict.rows->outbox[0]));
    if (!moved) return CommitOutcome::fenced;
  }
  if (verdict.rows->decided) decide(commit.tenant, *verdict.rows->decided);
  RowBatch batch;
  if (verdict.rows->thread) batch.add_thread(*verdict.rows->thread);
  batch.add_children(commit, *verdict.rows);
  batch.add_records(commit.tenant, *verdict.rows, now_);
  batch.send(connection_);
  BELAY_CHECK(connection_.sync());
  BELAY_CHECK(write_unguarded(commit, *verdict.rows));
  return verdict.outcome;
}

Result<Done> CommitWriter::write_unguarded(const Commit& commit, const CommitRows& rows) {
  for (const EffectRow& outcome : rows.effects) BELAY_CHECK(put_outcome(commit.tenant, outcome));
  if (rows.preserve) {
    BELAY_CHECK(preserve(commit.tenant, rows.preserve->first, rows.preserve->second));
  }
  for (const PruneRun& forgotten : rows.prune) {
    BELAY_CHECK(prune(connection_, commit.tenant, forgotten));
  }
  for (const Rewrite& rewrite : rows.rewrites) {
    BELAY_CHECK(rewrite_envelope(connection_, commit.tenant, rewrite));
  }
  for (const QueueRow& queue : rows.queues) put_queue(queue);
  if (rows.thread_edit) edit_thread(rows.thread_edit->row);
  return delete_blobs(commit.tenant, rows);
}

void CommitWriter::put_queue(const QueueRow& queue) {
  Parameters row;
  row.add(queue.tenant.text).add(queue.name).add(queue.paused).add(queue.runs_max);
  row.add(queue.per_key_max).add(queue.updated_at);
  connection_.send(
      "INSERT INTO belay.queues (tenant, name, paused, runs_max, per_key_max, updated_at)"
      " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, name) DO UPDATE SET"
      " paused = excluded.paused, runs_max = excluded.runs_max,"
      " per_key_max = excluded.per_key_max, updated_at = excluded.updated_at",
      row);
}

void CommitWriter::edit_thread(const ThreadRow& thread) {
  Parameters row;
  row.add(thread.tenant.text).add(thread.thread.text).add(thread.title).add(thread.metadata);
  row.add_or_null(thread.expires_at).add_or_null(thread.updated_at).add_bytes(thread.seal);
  connection_.send(
      "UPDATE belay.threads SET title = $3, metadata = $4, expires_at = $5, updated_at = $6,"
      " seal = $7 WHERE tenant = $1 AND thread_id = $2",
      row);
}

// Locks the run until the end of the transaction: other commits of the run wait here, and pruning
// waits, too.
Result<std::optional<CommitWriter::LockedRun>> CommitWriter::lock_run(const TenantId& tenant,
                                                                      const RunId& run) {
  Parameters key;
  key.add(tenant.text).add(run);
  BELAY_TRY(Rows rows, connection_.query("SELECT epoch, seq, status FROM belay.runs"
                                         " WHERE tenant = $1 AND run_id = $2 FOR NO KEY UPDATE",
                                         key));
  if (rows.count() == 0) return std::optional<LockedRun>();
  LockedRun standing{rows.natural(0, 0), rows.natural(0, 1)};
  BELAY_CHECK(read_enum(rows, 0, 2, standing.status));
  return std::optional(standing);
}

// FOR KEY SHARE: pruning (FOR UPDATE) cannot delete the thread before the new run is committed, but
// other runs of the thread can be created concurrently.
Result<bool> CommitWriter::is_thread(const TenantId& tenant, const ThreadId& thread) {
  Parameters key;
  key.add(tenant.text).add(thread.text);
  BELAY_TRY(Rows rows, connection_.query("SELECT 1 FROM belay.threads"
                                         " WHERE tenant = $1 AND thread_id = $2 FOR KEY SHARE",
                                         key));
  return rows.count() == 1;
}

// The lock excludes other first commits with a guard of this thread, and pruning. A separate
// statement after it sees the runs of the transactions that held it.
Result<bool> CommitWriter::thread_guard_holds(const TenantId& tenant, const ThreadGuard& guard) {
  Parameters key;
  key.add(tenant.text).add(guard.thread.text);
  connection_.send(
      "SELECT 1 FROM belay.threads WHERE tenant = $1 AND thread_id = $2 FOR NO KEY UPDATE", key);
  connection_.send(
      "SELECT run_id FROM belay.runs WHERE tenant = $1 AND thread_id = $2"
      " ORDER BY run_number DESC LIMIT 1",
      key);
  BELAY_TRY(std::vector<Rows> given, connection_.sync());
  const Rows& newest = given.back();
  return newest.count() == 1 && newest.uuid(0, 0) == guard.newest_run;
}

// The run might have been created since it was read, by an earlier try of this same commit whose
// reply was lost: while this one waited for the lock of its thread or of a record.
Result<CommitOutcome> CommitWriter::outcome_of_refused_start(const Commit& commit,
                                                             CommitOutcome refused) {
  Parameters key;
  key.add(commit.tenant.text).add(commit.rows.run->run);
  BELAY_TRY(Rows rows,
            connection_.query("SELECT 1 FROM belay.runs WHERE tenant = $1 AND run_id = $2", key));
  if (rows.count() == 0) return refused;
  return outcome_of_moved_run(commit);
}

// An edit that is sent again has been applied if it finds its own values.
Result<std::optional<CommitOutcome>> CommitWriter::outcome_of_edit(const TenantId& tenant,
                                                                   const CommitRows& rows) {
  using Outcome = std::optional<CommitOutcome>;
  if (!rows.thread_edit) return Outcome();
  const ThreadRow& wanted = rows.thread_edit->row;
  Parameters key;
  key.add(tenant.text).add(wanted.thread.text);
  BELAY_TRY(Rows row, connection_.query("SELECT updated_at, expires_at, title, metadata, seal"
                                        " FROM belay.threads WHERE tenant = $1"
                                        " AND thread_id = $2 FOR NO KEY UPDATE",
                                        key));
  if (row.count() == 0) return Outcome(CommitOutcome::thread_changed);
  bool is_applied = row.instant(0, 0) == wanted.updated_at &&
                    row.instant(0, 1) == wanted.expires_at && row.text(0, 2) == wanted.title &&
                    row.text(0, 3) == wanted.metadata && row.text(0, 4) == wanted.seal;
  if (is_applied || row.instant(0, 0) == rows.thread_edit->expected_updated_at) return Outcome();
  return Outcome(CommitOutcome::thread_changed);
}

// The guard does not hold. If this same commit has changed the run, it was applied by a try whose
// reply was lost: a commit and its checkpoint share one id. Any other checkpoint at this seq is a
// competitor's.
Result<CommitOutcome> CommitWriter::outcome_of_moved_run(const Commit& commit) {
  const CheckpointRow& mine = *commit.rows.checkpoint;
  Parameters key;
  key.add(commit.tenant.text).add(mine.run).add(mine.seq);
  BELAY_TRY(Rows rows, connection_.query("SELECT checkpoint_id FROM belay.checkpoints"
                                         " WHERE tenant = $1 AND run_id = $2 AND namespace = ''"
                                         " AND seq = $3",
                                         key));
  if (rows.count() == 1) {
    Uuid stored = rows.uuid(0, 0);
    if (stored == mine.id) return CommitOutcome::applied;
    if (commit.if_expired && stored == commit.if_expired->checkpoint->id) {
      return CommitOutcome::expired;
    }
  }
  return commit.run_guard->seq == 0 ? CommitOutcome::exists : CommitOutcome::fenced;
}

// With run_is_active, a decision without a RunGuard, the run is not yet locked, and its owner can
// commit at the same time. The run is locked before the approval, as by the owner; the opposite
// order could deadlock. If the owner is first, the status is read after its commit: if the run was
// paused meanwhile, the outcome is `fenced`, and the caller decides with a RunGuard. If the
// decision is first, the owner's pause waits for the lock and then fails its require_open.
Result<CommitWriter::GuardResult> CommitWriter::check_approval_guard(const Commit& commit) {
  const ApprovalGuard& guard = *commit.approval_guard;
  GuardResult closed{nullptr, CommitOutcome::approval_closed};
  Parameters key;
  key.add(commit.tenant.text).add(guard.interrupt);
  if (guard.run_is_active) {
    BELAY_TRY(Rows asked, connection_.query("SELECT run_id FROM belay.approvals WHERE tenant = $1"
                                            " AND interrupt_id = $2",
                                            key));
    if (asked.count() == 0) return closed;
    BELAY_TRY(auto standing, lock_run(commit.tenant, RunId(asked.uuid(0, 0))));
    bool is_held = standing && (standing->status == RunStatus::running ||
                                standing->status == RunStatus::queued);
    if (!is_held) {
      // As in the other stores, a closed approval takes precedence over the run's status.
      BELAY_TRY(Rows open, connection_.query("SELECT payload_hash FROM belay.approvals"
                                             " WHERE tenant = $1 AND interrupt_id = $2"
                                             " AND status = 'open'",
                                             key));
      bool is_asked = open.count() == 1 && open.digest(0, 0) == guard.payload_hash;
      return is_asked ? GuardResult{nullptr, CommitOutcome::fenced} : closed;
    }
  }
  // The approval is locked: of two decisions the second waits, then finds no open row. The expiry
  // is compared with clock_timestamp(); now() is the start of the transaction, which can have
  // waited for the run's lock since.
  if (clock_) {
    key.add(clock_->now());
  } else {
    key.add_null(Type::instant);
  }
  BELAY_TRY(Rows rows,
            connection_.query("SELECT run_id, payload_hash,"
                              " expires_at <= coalesce($3, clock_timestamp()), decided_at"
                              " FROM belay.approvals WHERE tenant = $1 AND interrupt_id = $2"
                              " AND status = 'open' FOR NO KEY UPDATE",
                              key));
  bool is_asked = rows.count() == 1 && rows.digest(0, 1) == guard.payload_hash &&
                  rows.instant(0, 3) == guard.decided_at &&
                  (!commit.rows.run || rows.uuid(0, 0) == commit.rows.run->run);
  if (!is_asked) return closed;
  bool has_passed = rows.boolean(0, 2);
  if (has_passed == (guard.expiry == ApprovalGuard::Expiry::passed))
    return GuardResult{&commit.rows};
  if (has_passed && commit.if_expired) {
    return GuardResult{&*commit.if_expired, CommitOutcome::expired};
  }
  return closed;
}

// Approvals that this same commit opens have no row yet and count as open. No lock: a decision of
// an active run locks the run first (check_approval_guard), and the caller has locked it.
Result<bool> CommitWriter::are_open(const TenantId& tenant,
                                    const std::vector<InterruptId>& interrupts) {
  if (interrupts.empty()) return true;
  Column ids(Type::uuid);
  for (const InterruptId& interrupt : interrupts) ids.add(interrupt);
  Parameters asked;
  asked.add(tenant.text).add(ids);
  BELAY_TRY(Rows rows, connection_.query("SELECT 1 FROM belay.approvals WHERE tenant = $1"
                                         " AND interrupt_id = ANY ($2) AND status <> 'open'"
                                         " LIMIT 1",
                                         asked));
  return rows.count() == 0;
}

Result<Done> CommitWriter::check_opened(const TenantId& tenant, const CommitRows& rows) {
  if (rows.opened.empty()) return Done{};
  Column ids(Type::uuid);
  for (auto approval = rows.opened.begin(); approval != rows.opened.end(); ++approval) {
    bool is_twice = std::any_of(rows.opened.begin(), approval, [&](const ApprovalRow& other) {
      return other.interrupt == approval->interrupt;
    });
    if (is_twice) return store::approval_exists(approval->interrupt);
    ids.add(approval->interrupt);
  }
  Parameters asked;
  asked.add(tenant.text).add(ids);
  BELAY_TRY(Rows found, connection_.query("SELECT interrupt_id FROM belay.approvals"
                                          " WHERE tenant = $1 AND interrupt_id = ANY ($2)",
                                          asked));
  if (found.count() > 0) return store::approval_exists(InterruptId(found.uuid(0, 0)));
  return Done{};
}

// A pending write does not change the run's seq, so its guard also holds when it is sent again, for
// example after a lost reply. Its approvals then exist, and can be decided: they stay unchanged.
Result<CommitRows> CommitWriter::without_asked(const Commit& commit) {
  CommitRows rows = commit.rows;
  rows.opened.clear();
  for (const ApprovalRow& approval : commit.rows.opened) {
    bool is_twice = std::any_of(
        commit.rows.opened.data(), &approval,
        [&](const ApprovalRow& other) { return other.interrupt == approval.interrupt; });
    if (is_twice) return store::approval_exists(approval.interrupt);
    Parameters key;
    key.add(commit.tenant.text).add(approval.interrupt);
    BELAY_TRY(Rows asked, connection_.query("SELECT run_id, task_id FROM belay.approvals"
                                            " WHERE tenant = $1 AND interrupt_id = $2",
                                            key));
    if (asked.count() == 0) {
      rows.opened.push_back(approval);
    } else if (asked.uuid(0, 0) != approval.run || asked.uuid(0, 1) != approval.task) {
      return store::approval_exists(approval.interrupt);
    }
  }
  return rows;
}

// No guard in the statement: the run is locked, and its guard holds.
void CommitWriter::move_run(const RunRow& run) {
  Parameters row;
  row.add(run.tenant.text).add(run.run).add(run.status).add(run.reason).add(run.outcome);
  row.add(run.error_code).add(run.error).add(run.seq).add(run.epoch).add_or_null(run.session);
  row.add(run.checkpoint).add(run.node).add(run.retry_count).add(run.worked_ms);
  row.add(run.updated_at).add_or_null(run.due_at).add(run.lost_claims).add_bytes(run.seal);
  connection_.send(
      "UPDATE belay.runs SET status = $3, reason = $4, outcome = $5, error_code = $6, error = $7,"
      " seq = $8, epoch = $9, session_id = $10, checkpoint_id = $11, node = $12,"
      " retry_count = $13, worked_ms = $14, updated_at = $15, due_at = $16, lost_claims = $17,"
      " seal = $18 WHERE tenant = $1 AND run_id = $2",
      row);
}

void CommitWriter::decide(const TenantId& tenant, const ApprovalRow& decision) {
  Parameters row;
  row.add(tenant.text).add(decision.interrupt).add(decision.status).add(decision.decided_by);
  row.add(decision.comment).add_bytes(decision.edited);
  if (decision.edited_hash == Digest{}) {
    row.add_bytes("");
  } else {
    row.add(decision.edited_hash);
  }
  row.add(decision.decided_at).add(decision.on_behalf_of).add_bytes(decision.decision_seal);
  connection_.send(
      "UPDATE belay.approvals SET status = $3, decided_by = $4, comment = $5,"
      " edited = $6, edited_hash = $7, decided_at = $8, on_behalf_of = $9, decision_seal = $10"
      " WHERE tenant = $1 AND interrupt_id = $2",
      row);
}

// Updates the message if its status and attempts are as the guard requires; returns whether it did.
// This commit has no checkpoint by whose id a repetition could be recognized. If its reply was lost
// ($11), a message that has exactly the new values counts as updated by the first try.
Result<bool> CommitWriter::move_message(const Commit& commit, const OutboxRow& message) {
  const OutboxGuard& guard = *commit.message_guard;
  Parameters row;
  row.add(commit.tenant.text).add(guard.run).add(guard.seq).add(guard.index).add(guard.status);
  row.add(guard.attempts).add(message.status).add(message.attempts).add(message.error);
  row.add(message.due_at).add(was_sent_).add_bytes(message.seal);
  BELAY_TRY(Rows moved,
            connection_.query("UPDATE belay.outbox SET status = $7, attempts = $8, error = $9,"
                              " due_at = $10, seal = $12"
                              " WHERE tenant = $1 AND run_id = $2 AND seq = $3"
                              " AND message_index = $4 AND ((status = $5 AND attempts = $6)"
                              " OR ($11 AND status = $7 AND attempts = $8 AND error = $9"
                              " AND due_at = $10 AND seal = $12))",
                              row));
  return moved.touched() == 1;
}

// Records the outcome of an effect that a process started before it lost its run. A failure is not
// recorded if another process has started another attempt since. The envelope is bound to the node
// and the class.
Result<Done> CommitWriter::put_outcome(const TenantId& tenant, const EffectRow& outcome) {
  if (outcome.status != EffectStatus::done && outcome.status != EffectStatus::failed) return Done{};
  Parameters row;
  row.add(tenant.text).add(outcome.run).add(outcome.task).add(outcome.name).add(outcome.status);
  row.add_bytes(outcome.envelope).add(outcome.updated_at).add(outcome.attempt);
  row.add(outcome.node).add(outcome.effect_class).add(outcome.took_ms);
  BELAY_CHECK(
      connection_.query("UPDATE belay.effects SET status = $5, envelope = $6,"
                        " updated_at = $7, node = $9, effect_class = $10, took_ms = $11"
                        " WHERE tenant = $1 AND run_id = $2"
                        " AND task_id = $3 AND name = $4"
                        " AND status IN ('intended', 'uncertain')"
                        " AND ($5 = 'done' OR attempt = $8)",
                        row));
  return Done{};
}

Result<Done> CommitWriter::preserve(const TenantId& tenant, const ThreadId& thread, bool value) {
  Parameters row;
  row.add(tenant.text).add(thread.text).add(value);
  BELAY_TRY(Rows kept, connection_.query("UPDATE belay.threads SET preserve = $3"
                                         " WHERE tenant = $1 AND thread_id = $2",
                                         row));
  if (kept.touched() == 0) return store::no_such_thread(thread);
  return Done{};
}

// Deletes a blob only if its put number is still the one that the caller has read: if another
// commit has stored the blob again, the number has increased. Rows of blob_puts are locked before
// blobs, by the commits that store blobs as well (RowBatch::send).
Result<Done> CommitWriter::delete_blobs(const TenantId& tenant, const CommitRows& rows) {
  Table unused(
      "WITH gone AS (DELETE FROM belay.blob_puts p USING unnest($1, $2, $3)"
      " AS u (tenant, blob_id, put_number) WHERE p.tenant = u.tenant AND p.blob_id = u.blob_id"
      " AND p.put_number = u.put_number RETURNING p.tenant, p.blob_id)"
      " DELETE FROM belay.blobs b USING gone g WHERE b.tenant = g.tenant AND b.blob_id = g.blob_id",
      {Type::text, Type::bytes, Type::number});
  for (const BlobUse& use : rows.delete_blobs) unused.add(tenant.text, use.id, use.last_put);
  unused.send(connection_);
  BELAY_CHECK(connection_.sync());
  return Done{};
}

}  // namespace belay::postgres
