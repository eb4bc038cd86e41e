#include "store/sqlite/envelopes.h"

#include <array>

#include "store/envelope_subject.h"
#include "store/envelope_type.h"
#include "store/sqlite/read_rows.h"
#include "store/sqlite/row_parts.h"

namespace belay::sqlite {
namespace {

// One column with envelopes of one table. `subject` reads `columns`, from the third column of a row
// on.
struct Source {
  std::string_view table;
  std::string_view number;
  std::string_view envelope;
  std::string_view columns;
  Result<store::Subject> (*subject)(const Statement& row);
  bool is_of_run = true;   // joined with its run, whose id is the first of the columns
  bool has_tenant = true;  // false: the tenant is a column of its run
  StoredEnvelope::Kind kind = StoredEnvelope::Kind::envelope;
  bool may_be_empty = false;  // with a key, an empty one is sealed too: data is bound to it
};

Result<store::Subject> value_subject(const Statement& row) {
  ValueRow value;
  value.run = RunId(row.uuid(2));
  value.checkpoint_ns = row.text(3);
  value.channel = row.text(4);
  value.seq = row.natural(5);
  value.index = row.number(6);
  if (!row.is_null(7)) BELAY_CHECK(read_enum(row, 7, value.kind));
  return store::subject_of(value);
}

Result<store::Subject> thread_value_subject(const Statement& row) {
  ValueRow value;
  value.thread = ThreadId(row.text(2));
  value.channel = row.text(3);
  value.seq = row.natural(4);
  value.index = row.number(5);
  if (!row.is_null(6)) BELAY_CHECK(read_enum(row, 6, value.kind));
  return store::subject_of(value);
}

Result<store::Subject> task_subject(const Statement& row) {
  TaskRow task;
  task.run = RunId(row.uuid(2));
  task.checkpoint_ns = row.text(3);
  task.superstep = row.number(4);
  task.position = row.number(5);
  task.task = TaskId(row.uuid(6));
  BELAY_CHECK(read_enum(row, 7, task.status));
  return store::subject_of(task);
}

Result<store::Subject> effect_subject(const Statement& row) {
  EffectRow effect;
  effect.run = RunId(row.uuid(2));
  effect.task = TaskId(row.uuid(3));
  effect.name = row.text(4);
  effect.node = row.text(5);
  BELAY_CHECK(read_enum(row, 6, effect.effect_class));
  BELAY_CHECK(read_enum(row, 7, effect.status));
  effect.attempt = row.number(8);
  return store::subject_of(effect);
}

Result<store::Subject> message_subject(const Statement& row) {
  OutboxRow message;
  message.run = RunId(row.uuid(2));
  message.seq = row.natural(3);
  message.index = row.number(4);
  return store::subject_of(message);
}

Result<store::Subject> input_subject(const Statement& row) {
  return store::subject_of_input(RunId(row.uuid(2)));
}
Result<store::Subject> payload_subject(const Statement& row) {
  return store::subject_of_payload(InterruptId(row.uuid(2)));
}
Result<store::Subject> edited_subject(const Statement& row) {
  return store::subject_of_edited(InterruptId(row.uuid(2)));
}
CheckpointRow checkpoint_of(const Statement& row) {
  CheckpointRow checkpoint;
  checkpoint.run = RunId(row.uuid(2));
  checkpoint.checkpoint_ns = row.text(3);
  checkpoint.seq = row.natural(4);
  checkpoint.id = CheckpointId(row.uuid(5));
  return checkpoint;
}

Result<store::Subject> tasks_subject(const Statement& row) {
  return store::subject_of_tasks(checkpoint_of(row));
}
Result<store::Subject> chain_subject(const Statement& row) {
  CheckpointRow checkpoint = checkpoint_of(row);
  checkpoint.parent = CheckpointId(row.uuid(6));
  checkpoint.session = SessionId(row.uuid(7));
  checkpoint.state_seq = row.natural(8);
  checkpoint.epoch = row.natural(9);
  BELAY_CHECK(read_enum(row, 10, checkpoint.kind));
  checkpoint.node = row.text(11);
  checkpoint.superstep = row.number(12);
  checkpoint.retry_count = row.number(13);
  BELAY_CHECK(read_enum(row, 14, checkpoint.status));
  checkpoint.created_at = row.instant(15);
  checkpoint.next_tasks = row.text(16);
  return store::subject_of_chain(checkpoint);
}
Result<store::Subject> payload_hash_subject(const Statement& row) {
  return store::subject_of_payload_hash(InterruptId(row.uuid(2)));
}
Result<store::Subject> edited_hash_subject(const Statement& row) {
  return store::subject_of_edited_hash(InterruptId(row.uuid(2)));
}
Result<store::Subject> record_subject(const Statement& row) {
  return store::subject_of_record(row.text(2), UserId(row.text(3)), row.text(4));
}
Result<store::Subject> blob_subject(const Statement& row) {
  return store::subject_of_blob(row.digest(2));
}

// The index, from 1, is part of positions: append, never reorder.
constexpr auto a_digest = StoredEnvelope::Kind::digest;
constexpr std::array<Source, 14> sources{{
    {"channel_values", "x.value_number", "x.envelope",
     "r.run_id, x.namespace, x.channel, x.seq, x.value_index, x.kind", value_subject},
    {"run_starts", "x.run_number", "x.input", "r.run_id", input_subject, true, false},
    {"approvals", "x.approval_number", "x.payload", "x.interrupt_id", payload_subject, false},
    {"approvals", "x.approval_number", "x.edited", "x.interrupt_id", edited_subject, false},
    {"records", "x.record_number", "x.envelope", "x.collection, x.user_id, x.key", record_subject,
     false},
    {"tasks", "x.task_number", "x.envelope",
     "r.run_id, x.namespace, x.superstep, x.position, x.task_id, x.status", task_subject},
    {"effects", "x.effect_number", "x.envelope",
     "r.run_id, x.task_id, x.name, x.node, x.effect_class, x.status, x.attempt", effect_subject,
     true, true, StoredEnvelope::Kind::envelope, true},
    {"outbox", "x.message_number", "x.envelope", "r.run_id, x.seq, x.message_index",
     message_subject},
    {"blobs", "x.blob_number", "x.envelope", "x.blob_id", blob_subject, false},
    {"checkpoints", "x.checkpoint_number", "x.next_tasks",
     "r.run_id, x.namespace, x.seq, x.checkpoint_id", tasks_subject, true, true,
     StoredEnvelope::Kind::tasks},
    {"checkpoints", "x.checkpoint_number", "x.chain_hash",
     "r.run_id, x.namespace, x.seq, x.checkpoint_id,"
     " iif(length(x.parent_id) = 0, (SELECT p.checkpoint_id FROM checkpoints p"
     "   WHERE p.tenant_id = x.tenant_id AND p.run_number = x.run_number"
     "   AND p.namespace = x.namespace AND p.seq = x.seq - 1), x.parent_id),"
     " (SELECT session_id FROM sessions WHERE number = x.session_number),"
     " coalesce(x.state_seq, x.seq), x.epoch, x.kind, x.node, x.superstep, x.retry_count,"
     " x.status, x.created_at, x.next_tasks",
     chain_subject, true, true, a_digest},
    {"approvals", "x.approval_number", "x.payload_hash", "x.interrupt_id", payload_hash_subject,
     false, true, a_digest},
    {"approvals", "x.approval_number", "x.edited_hash", "x.interrupt_id", edited_hash_subject,
     false, true, a_digest},
    {"thread_values", "x.value_number", "x.envelope",
     "(SELECT thread_id FROM threads t WHERE t.thread_number = x.thread_number), x.channel, x.seq,"
     " x.value_index, x.kind",
     thread_value_subject, false},
}};

std::string from(const Source& source) {
  std::string sql = " FROM " + std::string(source.table) + " x";
  if (source.is_of_run) sql += " CROSS JOIN runs r ON r.run_number = x.run_number";
  // The "+" prevents SQLite from using an index of the tenant instead of the order of the rows.
  return sql + (source.has_tenant ? " WHERE +x.tenant_id = ?1" : " WHERE r.tenant_id = ?1");
}

// ?1 tenant, ?2 the number after which to continue, ?3 prefix of the types to skip (empty: none),
// ?4 limit.
std::string list_statement(const Source& source, bool with_empty) {
  std::string number(source.number);
  std::string envelope(source.envelope);
  return "SELECT " + number + ", " + envelope + ", " + std::string(source.columns) + from(source) +
         " AND " + number + " > ?2" +
         (with_empty ? std::string() : " AND length(" + envelope + ") > 0") +
         " AND (length(?3) = 0 OR substr(" + envelope + ", 1, length(?3)) <> ?3) ORDER BY " +
         number + " LIMIT ?4";
}

// ?1 tenant, ?2 the row's number.
std::string find_statement(const Source& source) {
  return "SELECT " + std::string(source.envelope) + from(source) + " AND " +
         std::string(source.number) + " = ?2";
}

std::string rewrite_statement(const Source& source) {
  return "UPDATE " + std::string(source.table) + " AS x SET " +
         std::string(source.envelope.substr(2)) + " = ?1 WHERE " + std::string(source.number) +
         " = ?2";
}

}  // namespace

Result<std::vector<StoredEnvelope>> list_envelopes(Connection& connection, std::int64_t tenant,
                                                   const EnvelopeFilter& filter) {
  std::vector<StoredEnvelope> found;
  std::string front = store::front_of_type(filter.other_than);
  for (std::size_t i = 0; i < sources.size() && found.size() < filter.limit; ++i) {
    std::uint64_t base = static_cast<std::uint64_t>(i + 1) << number_bits;
    if (filter.after >= base + number_mask) continue;
    if (!filter.every_kind && sources[i].kind != StoredEnvelope::Kind::envelope) continue;
    BELAY_TRY(Statement rows, connection.prepare(list_statement(
                                  sources[i], filter.every_kind && sources[i].may_be_empty)));
    rows.bind(tenant).bind(filter.after > base ? filter.after - base : std::uint64_t{0});
    rows.bind_blob(front).bind(filter.limit - found.size());
    Statement::Step step = rows.step();
    for (; step == Statement::Step::row; step = rows.step()) {
      StoredEnvelope envelope;
      envelope.position = base + rows.natural(0);
      envelope.envelope = rows.text(1);
      envelope.kind = sources[i].kind;
      BELAY_TRY(store::Subject subject, sources[i].subject(rows));
      envelope.subject = std::move(subject.row);
      envelope.bound = std::move(subject.bound);
      found.push_back(std::move(envelope));
    }
    if (step == Statement::Step::failed) return connection.error();
  }
  if (filter.every_kind) BELAY_CHECK(list_parts(connection, tenant, filter, sources.size(), found));
  return found;
}

Result<Done> rewrite_envelope(Connection& connection, std::int64_t tenant, const Rewrite& rewrite) {
  std::uint64_t number_of_source = rewrite.position >> number_bits;
  if (number_of_source > sources.size()) {
    return rewrite_part(connection, tenant, rewrite, sources.size());
  }
  if (number_of_source == 0) return Done{};
  const Source& source = sources[number_of_source - 1];
  std::uint64_t number = rewrite.position & number_mask;
  {
    BELAY_TRY(Statement row, connection.prepare(find_statement(source)));
    row.bind(tenant).bind(number);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection.error();
    if (step == Statement::Step::done || sha256(row.text(0)) != rewrite.before) return Done{};
  }
  BELAY_TRY(Statement row, connection.prepare(rewrite_statement(source)));
  row.bind_blob(rewrite.envelope).bind(number);
  BELAY_CHECK(connection.run(std::move(row)));
  return Done{};
}

}  // namespace belay::sqlite
