#include "store/postgres/envelopes.h"

#include <algorithm>
#include <array>

#include "store/envelope_subject.h"
#include "store/envelope_type.h"
#include "store/postgres/row_parts.h"

namespace belay::postgres {
namespace {

// One column with envelopes of one table. `subject` reads `columns`, from the third column of a row
// on.
struct Source {
  std::string_view table;
  std::string_view number;
  std::string_view envelope;
  std::string_view columns;
  Result<store::Subject> (*subject)(const Rows& rows, int row);
  StoredEnvelope::Kind kind = StoredEnvelope::Kind::envelope;
  bool may_be_empty = false;  // with a key, an empty one is sealed too: data is bound to it
};

Result<store::Subject> value_subject(const Rows& rows, int row) {
  ValueRow value;
  value.run = RunId(rows.uuid(row, 2));
  value.checkpoint_ns = rows.text(row, 3);
  value.channel = rows.text(row, 4);
  value.seq = rows.natural(row, 5);
  value.index = rows.number(row, 6);
  if (!rows.is_null(row, 7)) BELAY_CHECK(read_enum(rows, row, 7, value.kind));
  return store::subject_of(value);
}

Result<store::Subject> thread_value_subject(const Rows& rows, int row) {
  ValueRow value;
  value.thread = ThreadId(rows.text(row, 2));
  value.channel = rows.text(row, 3);
  value.seq = rows.natural(row, 4);
  value.index = rows.number(row, 5);
  if (!rows.is_null(row, 6)) BELAY_CHECK(read_enum(rows, row, 6, value.kind));
  return store::subject_of(value);
}

Result<store::Subject> task_subject(const Rows& rows, int row) {
  TaskRow task;
  task.run = RunId(rows.uuid(row, 2));
  task.checkpoint_ns = rows.text(row, 3);
  task.superstep = rows.number(row, 4);
  task.position = rows.number(row, 5);
  task.task = TaskId(rows.uuid(row, 6));
  BELAY_CHECK(read_enum(rows, row, 7, task.status));
  return store::subject_of(task);
}

Result<store::Subject> effect_subject(const Rows& rows, int row) {
  EffectRow effect;
  effect.run = RunId(rows.uuid(row, 2));
  effect.task = TaskId(rows.uuid(row, 3));
  effect.name = rows.text(row, 4);
  effect.node = rows.text(row, 5);
  BELAY_CHECK(read_enum(rows, row, 6, effect.effect_class));
  BELAY_CHECK(read_enum(rows, row, 7, effect.status));
  effect.attempt = rows.number(row, 8);
  return store::subject_of(effect);
}

Result<store::Subject> message_subject(const Rows& rows, int row) {
  OutboxRow message;
  message.run = RunId(rows.uuid(row, 2));
  message.seq = rows.natural(row, 3);
  message.index = rows.number(row, 4);
  return store::subject_of(message);
}

Result<store::Subject> input_subject(const Rows& rows, int row) {
  return store::subject_of_input(RunId(rows.uuid(row, 2)));
}
Result<store::Subject> payload_subject(const Rows& rows, int row) {
  return store::subject_of_payload(InterruptId(rows.uuid(row, 2)));
}
Result<store::Subject> edited_subject(const Rows& rows, int row) {
  return store::subject_of_edited(InterruptId(rows.uuid(row, 2)));
}

CheckpointRow checkpoint_of(const Rows& rows, int row) {
  CheckpointRow checkpoint;
  checkpoint.run = RunId(rows.uuid(row, 2));
  checkpoint.checkpoint_ns = rows.text(row, 3);
  checkpoint.seq = rows.natural(row, 4);
  checkpoint.id = CheckpointId(rows.uuid(row, 5));
  return checkpoint;
}

Result<store::Subject> tasks_subject(const Rows& rows, int row) {
  return store::subject_of_tasks(checkpoint_of(rows, row));
}
Result<store::Subject> chain_subject(const Rows& rows, int row) {
  CheckpointRow checkpoint = checkpoint_of(rows, row);
  checkpoint.parent = CheckpointId(rows.uuid(row, 6));
  checkpoint.session = SessionId(rows.uuid(row, 7));
  checkpoint.state_seq = rows.natural(row, 8);
  checkpoint.epoch = rows.natural(row, 9);
  BELAY_CHECK(read_enum(rows, row, 10, checkpoint.kind));
  checkpoint.node = rows.text(row, 11);
  checkpoint.superstep = rows.number(row, 12);
  checkpoint.retry_count = rows.number(row, 13);
  BELAY_CHECK(read_enum(rows, row, 14, checkpoint.status));
  checkpoint.created_at = rows.instant(row, 15);
  checkpoint.next_tasks = rows.text(row, 16);
  return store::subject_of_chain(checkpoint);
}
Result<store::Subject> payload_hash_subject(const Rows& rows, int row) {
  return store::subject_of_payload_hash(InterruptId(rows.uuid(row, 2)));
}
Result<store::Subject> edited_hash_subject(const Rows& rows, int row) {
  return store::subject_of_edited_hash(InterruptId(rows.uuid(row, 2)));
}
Result<store::Subject> record_subject(const Rows& rows, int row) {
  return store::subject_of_record(rows.view(row, 2), UserId(rows.text(row, 3)), rows.view(row, 4));
}
Result<store::Subject> blob_subject(const Rows& rows, int row) {
  return store::subject_of_blob(rows.digest(row, 2));
}

// The index, from 1, is part of positions: append, never reorder.
constexpr auto a_digest = StoredEnvelope::Kind::digest;
constexpr std::array<Source, 14> sources{{
    {"channel_values", "value_number", "envelope",
     "run_id, namespace, channel, seq, value_index, kind", value_subject},
    {"run_starts", "start_number", "input", "run_id", input_subject},
    {"approvals", "approval_number", "payload", "interrupt_id", payload_subject},
    {"approvals", "approval_number", "edited", "interrupt_id", edited_subject},
    {"records", "record_number", "envelope", "collection, user_id, key", record_subject},
    {"tasks", "task_number", "envelope", "run_id, namespace, superstep, position, task_id, status",
     task_subject},
    {"effects", "effect_number", "envelope",
     "run_id, task_id, name, node, effect_class, status, attempt", effect_subject,
     StoredEnvelope::Kind::envelope, true},
    {"outbox", "message_number", "envelope", "run_id, seq, message_index", message_subject},
    {"blobs", "blob_number", "envelope", "blob_id", blob_subject},
    {"checkpoints", "checkpoint_number", "next_tasks", "run_id, namespace, seq, checkpoint_id",
     tasks_subject, StoredEnvelope::Kind::tasks},
    {"checkpoints", "checkpoint_number", "chain_hash",
     "run_id, namespace, seq, checkpoint_id, parent_id, session_id, state_seq, epoch, kind, node,"
     " superstep, retry_count, status, created_at, next_tasks",
     chain_subject, a_digest},
    {"approvals", "approval_number", "payload_hash", "interrupt_id", payload_hash_subject,
     a_digest},
    {"approvals", "approval_number", "edited_hash", "interrupt_id", edited_hash_subject, a_digest},
    {"thread_values", "value_number", "envelope", "thread_id, channel, seq, value_index, kind",
     thread_value_subject},
}};

Query rows_in(const Source& source, const EnvelopeFilter& filter, const Window& window,
              std::size_t limit) {
  std::string number(source.number);
  std::string envelope(source.envelope);
  Query query("SELECT " + number + ", " + envelope + ", " + std::string(source.columns));
  query.add(" FROM belay." + std::string(source.table) + " WHERE tenant = ? AND " + number +
                " > ? AND " + number + " <= ?",
            filter.tenant, window.after, window.last);
  bool with_empty = filter.every_kind && source.may_be_empty;
  if (!with_empty) query.add(" AND octet_length(" + envelope + ") > 0");
  std::string front = store::front_of_type(filter.other_than);
  if (!front.empty()) {
    query.add(" AND substr(" + envelope + ", 1, " + std::to_string(front.size()) + ") <> ?",
              Bytes{front});
  }
  query.add(" ORDER BY " + number + " LIMIT ?", limit);
  return query;
}

// Appends the envelopes of one source after `after` to `found`.
Result<Done> list_source(const Ask& ask, std::size_t index, std::uint64_t after,
                         const EnvelopeFilter& filter, std::vector<StoredEnvelope>& found) {
  const Source& source = sources[index];
  auto look = [&](const Window& window) -> Result<Done> {
    Query query = rows_in(source, filter, window, filter.limit - found.size());
    if (query.finds_nothing()) return Done{};
    BELAY_TRY(Rows rows, ask(query));
    for (int row = 0; row < rows.count(); ++row) {
      StoredEnvelope envelope;
      envelope.position =
          (static_cast<std::uint64_t>(index + 1) << number_bits) + rows.natural(row, 0);
      envelope.envelope = rows.text(row, 1);
      envelope.kind = source.kind;
      BELAY_TRY(store::Subject subject, source.subject(rows, row));
      envelope.subject = std::move(subject.row);
      envelope.bound = std::move(subject.bound);
      found.push_back(std::move(envelope));
    }
    return Done{};
  };
  return walk_places(ask, {source.table, source.number}, after, filter.limit, found, look);
}

}  // namespace

Result<std::vector<StoredEnvelope>> list_envelopes(const Ask& ask, const EnvelopeFilter& filter) {
  std::vector<StoredEnvelope> found;
  for (std::size_t i = 0; i < sources.size() && found.size() < filter.limit; ++i) {
    std::uint64_t base = static_cast<std::uint64_t>(i + 1) << number_bits;
    if (filter.after >= base + number_mask) continue;
    if (!filter.every_kind && sources[i].kind != StoredEnvelope::Kind::envelope) continue;
    std::uint64_t after = filter.after > base ? filter.after - base : 0;
    BELAY_CHECK(list_source(ask, i, after, filter, found));
  }
  if (filter.every_kind) BELAY_CHECK(list_parts(ask, filter, sources.size(), found));
  return found;
}

Result<Done> rewrite_envelope(Connection& connection, const TenantId& tenant,
                              const Rewrite& rewrite) {
  std::uint64_t number_of_source = rewrite.position >> number_bits;
  if (number_of_source > sources.size()) {
    return rewrite_part(connection, tenant, rewrite, sources.size());
  }
  if (number_of_source == 0) return Done{};
  const Source& source = sources[number_of_source - 1];
  std::string envelope(source.envelope);
  Query query("UPDATE belay." + std::string(source.table));
  query.add(" SET " + envelope + " = ? WHERE tenant = ? AND " + std::string(source.number) +
                " = ? AND sha256(" + envelope + ") = ?",
            Bytes{rewrite.envelope}, tenant, rewrite.position & number_mask, rewrite.before);
  if (!query.finds_nothing()) connection.send(query.sql(), query.parameters(), query.plan());
  return Done{};
}

}  // namespace belay::postgres
