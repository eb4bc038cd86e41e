// Statements of CommitWriter: channel values, tasks, effects, messages, blobs.

#include "store/sqlite/commit_writer.h"

namespace belay::sqlite {
namespace {

// Null is the kind of most values, which replace the previous one.
Statement& bind_kind(Statement& statement, WriteOp kind) {
  return kind == WriteOp::set ? statement.bind_null() : statement.bind(kind);
}

}  // namespace

Result<Done> CommitWriter::write_work(const Place& place, const CommitRows& rows) {
  for (const ValueRow& value : rows.values) BELAY_CHECK(put_value(place, value));
  for (const TaskRow& task : rows.tasks) BELAY_CHECK(put_task(place, task));
  for (const EffectRow& effect : rows.effects) BELAY_CHECK(put_effect(place, effect));
  for (const CheckpointRow& inner : rows.inner_checkpoints) {
    BELAY_CHECK(put_inner_checkpoint(place, inner));
  }
  return put_blobs(place.tenant, rows);
}

Result<Done> CommitWriter::put_value(const Place& place, const ValueRow& value) {
  if (!value.thread.empty()) return put_thread_value(place, value);
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO channel_values (tenant_id, run_number, namespace,"
                                " channel, seq, value_index, kind, envelope)"
                                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                                " ON CONFLICT (tenant_id, run_number, namespace, channel, seq,"
                                " value_index) DO UPDATE SET kind = excluded.kind,"
                                " envelope = excluded.envelope"));
  row.bind(place.tenant).bind(place.run).bind(value.checkpoint_ns).bind(value.channel);
  row.bind(value.seq).bind(value.index);
  bind_kind(row, value.kind).bind_blob(value.envelope);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// The thread is that of the stored run: a pending write does not contain its run.
Result<Done> CommitWriter::put_thread_value(const Place& place, const ValueRow& value) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO thread_values (tenant_id, thread_number, channel, seq,"
                                " value_index, kind, envelope) VALUES (?, (SELECT thread_number"
                                "   FROM runs WHERE run_number = ?), ?, ?, ?, ?, ?)"
                                " ON CONFLICT (tenant_id, thread_number, channel, seq, value_index)"
                                " DO UPDATE SET kind = excluded.kind,"
                                " envelope = excluded.envelope"));
  row.bind(place.tenant).bind(place.run).bind(value.channel).bind(value.seq).bind(value.index);
  bind_kind(row, value.kind).bind_blob(value.envelope);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

Result<Done> CommitWriter::put_task(const Place& place, const TaskRow& task) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO tasks (tenant_id, run_number, namespace, superstep,"
                                " position, task_id, status, envelope)"
                                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                                " ON CONFLICT (tenant_id, run_number, namespace, superstep,"
                                " position) DO UPDATE SET task_id = excluded.task_id,"
                                " status = excluded.status, envelope = excluded.envelope"));
  row.bind(place.tenant).bind(place.run).bind(task.checkpoint_ns).bind(task.superstep);
  row.bind(task.position).bind(task.task).bind(task.status).bind_blob(task.envelope);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// Does not change a final status (done, skipped, failed), except that a failed effect can be
// started again with a later attempt.
Result<Done> CommitWriter::put_effect(const Place& place, const EffectRow& effect) {
  BELAY_TRY(Statement row,
            connection_.prepare(
                "INSERT INTO effects (tenant_id, run_number, task_id, name, node, effect_class,"
                " status, attempt, created_at, updated_at, envelope, took_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (tenant_id, run_number, task_id, name) DO UPDATE SET"
                " node = excluded.node, effect_class = excluded.effect_class,"
                " status = excluded.status, attempt = excluded.attempt,"
                " updated_at = excluded.updated_at, envelope = excluded.envelope,"
                " took_ms = excluded.took_ms"
                " WHERE effects.status IN ('intended', 'uncertain')"
                " OR (effects.status = 'failed' AND excluded.status = 'intended'"
                " AND excluded.attempt > effects.attempt)"));
  row.bind(place.tenant).bind(place.run).bind(effect.task).bind(effect.name).bind(effect.node);
  row.bind(effect.effect_class).bind(effect.status).bind(effect.attempt);
  row.bind(effect.created_at).bind(effect.updated_at).bind_blob(effect.envelope);
  row.bind(effect.took_ms);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// Records the outcome of an effect that a process started before it lost its run. A failure is not
// recorded if another process has started another attempt since. The envelope is bound to the node
// and the class.
Result<Done> CommitWriter::put_outcome(std::int64_t tenant, const EffectRow& outcome) {
  if (outcome.status != EffectStatus::done && outcome.status != EffectStatus::failed) return Done{};
  BELAY_TRY(std::int64_t run, sure_run_number(tenant, outcome.run));
  BELAY_TRY(Statement row,
            connection_.prepare("UPDATE effects SET status = ?1, envelope = ?2, updated_at = ?3,"
                                " node = ?9, effect_class = ?10, took_ms = ?11"
                                " WHERE tenant_id = ?4 AND run_number = ?5 AND task_id = ?6"
                                " AND name = ?7 AND status IN ('intended', 'uncertain')"
                                " AND (?1 = 'done' OR attempt = ?8)"));
  row.bind(outcome.status).bind_blob(outcome.envelope).bind(outcome.updated_at);
  row.bind(tenant).bind(run).bind(outcome.task).bind(outcome.name).bind(outcome.attempt);
  row.bind(outcome.node).bind(outcome.effect_class).bind(outcome.took_ms);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// A pending write that is sent again writes the same checkpoint again.
Result<Done> CommitWriter::put_inner_checkpoint(const Place& place, const CheckpointRow& inner) {
  {
    BELAY_TRY(Statement old,
              connection_.prepare("DELETE FROM checkpoints WHERE tenant_id = ? AND run_number = ?"
                                  " AND namespace = ? AND seq = ?"));
    old.bind(place.tenant).bind(place.run).bind(inner.checkpoint_ns).bind(inner.seq);
    BELAY_CHECK(connection_.run(std::move(old)));
  }
  return insert_checkpoint(place, inner, CheckpointId());
}

Result<Done> CommitWriter::insert_message(const Place& place, const OutboxRow& message) {
  BELAY_TRY(Statement row,
            connection_.prepare("INSERT INTO outbox (tenant_id, run_number, seq, message_index,"
                                " topic, status, attempts, error, due_at, created_at, envelope,"
                                " seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(place.tenant).bind(place.run).bind(message.seq).bind(message.index);
  row.bind(message.topic).bind(message.status).bind(message.attempts).bind(message.error);
  row.bind(message.due_at).bind(message.created_at).bind_blob(message.envelope);
  bind_seal(row, message.seal);
  BELAY_CHECK(connection_.run(std::move(row)));
  return Done{};
}

// Updates the message if its status and attempts are as the guard requires; returns whether it did.
// The guard is part of the UPDATE: of several deliveries of a message, one updates the row.
Result<bool> CommitWriter::move_message(std::int64_t tenant, const OutboxGuard& guard,
                                        const OutboxRow& message) {
  BELAY_TRY(std::int64_t run, sure_run_number(tenant, guard.run));
  BELAY_TRY(Statement row,
            connection_.prepare("UPDATE outbox SET status = ?, attempts = ?, error = ?, due_at = ?,"
                                " seal = ?"
                                " WHERE tenant_id = ? AND run_number = ? AND seq = ?"
                                " AND message_index = ? AND status = ? AND attempts = ?"));
  row.bind(message.status).bind(message.attempts).bind(message.error).bind(message.due_at);
  bind_seal(row, message.seal);
  row.bind(tenant).bind(run).bind(guard.seq).bind(guard.index);
  row.bind(guard.status).bind(guard.attempts);
  BELAY_TRY(std::int64_t touched, connection_.run(std::move(row)));
  return touched == 1;
}

Result<Done> CommitWriter::put_blobs(std::int64_t tenant, const CommitRows& rows) {
  for (const BlobRow& blob : rows.blobs) {
    BELAY_TRY(Statement row, connection_.prepare("INSERT OR IGNORE INTO blobs (tenant_id, blob_id,"
                                                 " envelope) VALUES (?, ?, ?)"));
    row.bind(tenant).bind(blob.id).bind_blob(blob.envelope);
    BELAY_CHECK(connection_.run(std::move(row)));
    BELAY_TRY(Statement put, connection_.prepare("INSERT OR REPLACE INTO blob_puts"
                                                 " (tenant_id, blob_number)"
                                                 " SELECT tenant_id, blob_number FROM blobs"
                                                 " WHERE tenant_id = ? AND blob_id = ?"));
    put.bind(tenant).bind(blob.id);
    BELAY_CHECK(connection_.run(std::move(put)));
  }
  return Done{};
}

Result<Done> CommitWriter::delete_blobs(std::int64_t tenant, const CommitRows& rows) {
  for (const BlobUse& unused : rows.delete_blobs) {
    BELAY_TRY(Statement put,
              connection_.prepare("DELETE FROM blob_puts WHERE put_number = ? AND blob_number ="
                                  " (SELECT blob_number FROM blobs"
                                  "   WHERE tenant_id = ? AND blob_id = ?)"));
    put.bind(unused.last_put).bind(tenant).bind(unused.id);
    BELAY_TRY(std::int64_t found, connection_.run(std::move(put)));
    if (found == 0) continue;
    BELAY_TRY(Statement row,
              connection_.prepare("DELETE FROM blobs WHERE tenant_id = ? AND blob_id = ?"));
    row.bind(tenant).bind(unused.id);
    BELAY_CHECK(connection_.run(std::move(row)));
  }
  return Done{};
}

}  // namespace belay::sqlite
