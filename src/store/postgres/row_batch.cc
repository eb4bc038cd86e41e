#include "store/postgres/row_batch.h"

#include "store/postgres/parameters.h"
#include "store/record_version.h"
#include "store/stored_digest.h"

namespace belay::postgres {
namespace {

// The last parameter is the number of rows. If a thread or run exists, ON CONFLICT inserts fewer,
// and the division by zero undoes the transaction: the same as a guard that does not hold
// (commit_batch.cc). A unique violation would not differ from an error in another table.
constexpr std::string_view thread_statement =
    "WITH added AS (INSERT INTO belay.threads"
    " (tenant, thread_id, user_id, graph, created_at, preserve, title, metadata, expires_at,"
    " updated_at, seal)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    " ON CONFLICT DO NOTHING RETURNING 1)"
    " SELECT 1 / (count(*) = $12)::int FROM added";

// FOR KEY SHARE: pruning, which locks the thread before it deletes it, waits for the new run.
constexpr std::string_view run_statement =
    "WITH added AS (INSERT INTO belay.runs (tenant, run_id, thread_id, status, reason, outcome,"
    " error_code, error, seq, epoch, session_id, checkpoint_id, node, retry_count, worked_ms,"
    " updated_at, due_at, lost_claims, queue, priority, concurrency_key, seal)"
    " SELECT u.* FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
    " $17, $18, $19, $20, $21, $22) AS u (tenant, run_id, thread_id, status, reason, outcome,"
    " error_code, error, seq, epoch, session_id, checkpoint_id, node, retry_count, worked_ms,"
    " updated_at, due_at, lost_claims, queue, priority, concurrency_key, seal)"
    " CROSS JOIN LATERAL (SELECT FROM belay.threads t WHERE t.tenant = u.tenant"
    " AND t.thread_id = u.thread_id FOR KEY SHARE) AS known"
    " ON CONFLICT DO NOTHING RETURNING 1)"
    " SELECT 1 / (count(*) = $23)::int FROM added";

constexpr std::string_view start_statement =
    "INSERT INTO belay.run_starts (tenant, run_id, user_id, graph, graph_hash, input, options,"
    " created_at, forked_from, forked_at, ordinal, seal)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

constexpr std::string_view checkpoint_statement =
    "INSERT INTO belay.checkpoints (tenant, run_id, namespace, seq, checkpoint_id, parent_id,"
    " state_seq, epoch, session_id, kind, node, superstep, next_tasks, chain_hash, retry_count,"
    " status, created_at)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
    " $17)";

// ON CONFLICT: a pending write that is sent again writes the same checkpoint again.
constexpr std::string_view inner_checkpoint_statement =
    "INSERT INTO belay.checkpoints (tenant, run_id, namespace, seq, checkpoint_id, parent_id,"
    " state_seq, epoch, session_id, kind, node, superstep, next_tasks, chain_hash, retry_count,"
    " status, created_at)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
    " $17) ON CONFLICT (tenant, run_id, namespace, seq) DO UPDATE SET"
    " checkpoint_id = excluded.checkpoint_id, parent_id = excluded.parent_id,"
    " state_seq = excluded.state_seq, epoch = excluded.epoch, session_id = excluded.session_id,"
    " kind = excluded.kind, node = excluded.node, superstep = excluded.superstep,"
    " next_tasks = excluded.next_tasks, chain_hash = excluded.chain_hash,"
    " retry_count = excluded.retry_count, status = excluded.status,"
    " created_at = excluded.created_at";

constexpr std::string_view value_statement =
    "INSERT INTO belay.channel_values (tenant, run_id, namespace, channel, seq, value_index, kind,"
    " envelope) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)"
    " ON CONFLICT (tenant, run_id, namespace, channel, seq, value_index) DO UPDATE SET"
    " kind = excluded.kind, envelope = excluded.envelope";

// The thread is that of the stored run: a pending write does not contain its run.
constexpr std::string_view thread_value_statement =
    "INSERT INTO belay.thread_values (tenant, thread_id, channel, seq, value_index, kind, envelope)"
    " SELECT u.tenant, r.thread_id, u.channel, u.seq, u.value_index, u.kind, u.envelope"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7)"
    " AS u (tenant, run_id, channel, seq, value_index, kind, envelope)"
    " JOIN belay.runs r ON r.tenant = u.tenant AND r.run_id = u.run_id"
    " ON CONFLICT (tenant, thread_id, channel, seq, value_index) DO UPDATE SET"
    " kind = excluded.kind, envelope = excluded.envelope";

constexpr std::string_view event_statement =
    "INSERT INTO belay.events (tenant, run_id, seq, event_index, type, body, created_at,"
    " seal) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)";

constexpr std::string_view message_statement =
    "INSERT INTO belay.outbox (tenant, run_id, seq, message_index, topic, status, attempts, error,"
    " due_at, created_at, envelope, seal) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9,"
    " $10, $11, $12)";

constexpr std::string_view close_statement =
    "UPDATE belay.approvals a SET status = 'closed' FROM unnest($1, $2) AS u (tenant, run_id)"
    " WHERE a.tenant = u.tenant AND a.run_id = u.run_id AND a.status = 'open'";

constexpr std::string_view uncertain_statement =
    "UPDATE belay.effects e SET status = 'uncertain',"
    " updated_at = greatest(e.updated_at, u.updated_at)"
    " FROM unnest($1, $2, $3) AS u (tenant, run_id, updated_at)"
    " WHERE e.tenant = u.tenant AND e.run_id = u.run_id AND e.status = 'intended'";

constexpr std::string_view open_statement =
    "INSERT INTO belay.approvals (tenant, interrupt_id, run_id, task_id, node, question, payload,"
    " payload_hash, roles, seq, created_at, expires_at, status, decided_by, comment, edited,"
    " edited_hash, decided_at, on_behalf_of, seal, decision_seal) SELECT * FROM unnest($1, $2, $3,"
    " $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";

constexpr std::string_view task_statement =
    "INSERT INTO belay.tasks (tenant, run_id, namespace, superstep, position, task_id, status,"
    " envelope) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)"
    " ON CONFLICT (tenant, run_id, namespace, superstep, position) DO UPDATE SET"
    " task_id = excluded.task_id, status = excluded.status, envelope = excluded.envelope";

// Does not change a final status (done, skipped, failed), except that a failed effect can be
// started again with a later attempt.
constexpr std::string_view effect_statement =
    "INSERT INTO belay.effects AS e (tenant, run_id, task_id, name, node, effect_class, status,"
    " attempt, created_at, updated_at, envelope, took_ms)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
    " ON CONFLICT (tenant, run_id, task_id, name) DO UPDATE SET node = excluded.node,"
    " effect_class = excluded.effect_class, status = excluded.status, attempt = excluded.attempt,"
    " updated_at = excluded.updated_at, envelope = excluded.envelope, took_ms = excluded.took_ms"
    " WHERE e.status IN ('intended', 'uncertain') OR (e.status = 'failed'"
    " AND excluded.status = 'intended' AND excluded.attempt > e.attempt)";

constexpr std::string_view blob_put_statement =
    "INSERT INTO belay.blob_puts (tenant, blob_id) SELECT * FROM unnest($1, $2)"
    " ON CONFLICT (tenant, blob_id) DO UPDATE SET put_number = nextval('belay.put_numbers')";

constexpr std::string_view blob_statement =
    "INSERT INTO belay.blobs (tenant, blob_id, envelope) SELECT * FROM unnest($1, $2, $3)"
    " ON CONFLICT DO NOTHING";

// Deletes the entries of the indexes, and those of the records that are deleted ($5). Both DELETEs
// see the rows from before the statement, in whichever order they are executed.
constexpr std::string_view erase_statement =
    "WITH keys AS (SELECT * FROM unnest($1, $2, $3, $4, $5)"
    " AS u (tenant, collection, user_id, key, is_deleted)),"
    " entries AS (DELETE FROM belay.record_index i USING keys u WHERE i.tenant = u.tenant"
    " AND i.collection = u.collection AND i.user_id = u.user_id AND i.key = u.key)"
    " DELETE FROM belay.records r USING keys u WHERE r.tenant = u.tenant"
    " AND r.collection = u.collection AND r.user_id = u.user_id AND r.key = u.key"
    " AND u.is_deleted";

// The version of a new record is the parameter, also if record_versions.cc has inserted a row of
// version 0 for it; that of a replaced record follows the stored one.
constexpr std::string_view record_statement =
    "INSERT INTO belay.records AS r (tenant, collection, user_id, key, envelope, run_id, seq,"
    " updated_at, seal, version, expires_at)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    " ON CONFLICT (tenant, collection, user_id, key) DO UPDATE SET envelope = excluded.envelope,"
    " run_id = excluded.run_id, seq = excluded.seq, updated_at = excluded.updated_at,"
    " seal = excluded.seal, expires_at = excluded.expires_at, version ="
    " CASE r.version WHEN 0 THEN excluded.version ELSE r.version + 1 END";

constexpr std::string_view record_index_statement =
    "INSERT INTO belay.record_index (tenant, collection, user_id, field, value_hash, key, value)"
    " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";

std::string part_of_key(const std::string& part) { return part; }
std::string part_of_key(std::int64_t part) { return std::to_string(part); }
std::string part_of_key(std::uint64_t part) { return std::to_string(part); }
std::string part_of_key(const Uuid& id) { return std::string(bytes_of_id(id)); }

// Joins the parts of a key, each after its length, so that different keys have different texts.
template <typename... Parts>
std::string key_of(const Parts&... parts) {
  std::string key;
  auto add = [&](std::string_view part) {
    key += std::to_string(part.size());
    key += ':';
    key += part;
  };
  (add(part_of_key(parts)), ...);
  return key;
}

// An absent digest is stored as an empty text, in an encrypted store as well.
std::string hash_or_nothing(const Digest& digest) {
  return digest == Digest{} ? "" : store::bytes_of(digest);
}

}  // namespace

Table& Rounds::table_for(const std::string& key) {
  // After the last round that contains the key; an earlier round would be written before it.
  std::size_t first_free = rounds_.size();
  while (first_free > 0 && !rounds_[first_free - 1].keys.contains(key)) --first_free;
  if (first_free == rounds_.size()) {
    rounds_.push_back({Table(statement_, types_), {}});
  }
  rounds_[first_free].keys.insert(key);
  return rounds_[first_free].table;
}

RowBatch::RecordRound::RecordRound()
    : erased(erase_statement, {Type::text, Type::text, Type::text, Type::text, Type::boolean}),
      written(record_statement,
              {Type::text, Type::text, Type::text, Type::text, Type::bytes, Type::uuid,
               Type::number, Type::instant, Type::bytes, Type::number, Type::instant}),
      indexed(record_index_statement, {Type::text, Type::text, Type::text, Type::text, Type::bytes,
                                       Type::text, Type::text}) {}

RowBatch::RowBatch()
    : threads_(thread_statement,
               {Type::text, Type::text, Type::text, Type::text, Type::instant, Type::boolean,
                Type::text, Type::text, Type::instant, Type::instant, Type::bytes}),
      runs_(run_statement,
            {Type::text, Type::uuid,   Type::text,   Type::text,    Type::text,    Type::text,
             Type::text, Type::text,   Type::number, Type::number,  Type::uuid,    Type::uuid,
             Type::text, Type::number, Type::number, Type::instant, Type::instant, Type::number,
             Type::text, Type::number, Type::text,   Type::bytes}),
      starts_(start_statement,
              {Type::text, Type::uuid, Type::text, Type::text, Type::bytes, Type::bytes, Type::text,
               Type::instant, Type::uuid, Type::number, Type::number, Type::bytes}),
      checkpoints_(checkpoint_statement,
                   {Type::text, Type::uuid, Type::text, Type::number, Type::uuid, Type::uuid,
                    Type::number, Type::number, Type::uuid, Type::text, Type::text, Type::number,
                    Type::bytes, Type::bytes, Type::number, Type::text, Type::instant}),
      values_(value_statement, {Type::text, Type::uuid, Type::text, Type::text, Type::number,
                                Type::number, Type::text, Type::bytes}),
      thread_values_(thread_value_statement, {Type::text, Type::uuid, Type::text, Type::number,
                                              Type::number, Type::text, Type::bytes}),
      events_(event_statement, {Type::text, Type::uuid, Type::number, Type::number, Type::text,
                                Type::text, Type::instant, Type::bytes}),
      messages_(message_statement,
                {Type::text, Type::uuid, Type::number, Type::number, Type::text, Type::text,
                 Type::number, Type::text, Type::instant, Type::instant, Type::bytes, Type::bytes}),
      closed_(close_statement, {Type::text, Type::uuid}),
      uncertain_(uncertain_statement, {Type::text, Type::uuid, Type::instant}),
      opened_(open_statement,
              {Type::text,  Type::uuid,  Type::uuid, Type::uuid,   Type::text,    Type::text,
               Type::bytes, Type::bytes, Type::text, Type::number, Type::instant, Type::instant,
               Type::text,  Type::text,  Type::text, Type::bytes,  Type::bytes,   Type::instant,
               Type::text,  Type::bytes, Type::bytes}),
      blob_puts_(blob_put_statement, {Type::text, Type::bytes}),
      blobs_(blob_statement, {Type::text, Type::bytes, Type::bytes}),
      inner_checkpoints_(
          inner_checkpoint_statement,
          {Type::text, Type::uuid, Type::text, Type::number, Type::uuid, Type::uuid, Type::number,
           Type::number, Type::uuid, Type::text, Type::text, Type::number, Type::bytes, Type::bytes,
           Type::number, Type::text, Type::instant}),
      tasks_(task_statement, {Type::text, Type::uuid, Type::text, Type::number, Type::number,
                              Type::uuid, Type::text, Type::bytes}),
      effects_(effect_statement,
               {Type::text, Type::uuid, Type::uuid, Type::text, Type::text, Type::text, Type::text,
                Type::number, Type::instant, Type::instant, Type::bytes, Type::number}) {}

void RowBatch::add_thread(const ThreadRow& thread) {
  threads_.add(thread.tenant.text, thread.thread.text, thread.user.text, thread.graph,
               thread.created_at, thread.preserve, thread.title, thread.metadata,
               or_null(thread.expires_at), or_null(thread.updated_at), thread.seal);
}

void RowBatch::add_run(const RunRow& run) {
  runs_.add(run.tenant.text, run.run, run.thread.text, run.status, run.reason, run.outcome,
            run.error_code, run.error, run.seq, run.epoch, or_null(run.session), run.checkpoint,
            run.node, run.retry_count, run.worked_ms, run.updated_at, or_null(run.due_at),
            run.lost_claims, run.queue, run.priority, run.concurrency_key, run.seal);
}

void RowBatch::add_start(const RunRow& run) {
  std::optional<std::uint64_t> forked_at;
  if (run.forked_at != 0) forked_at = run.forked_at;
  starts_.add(run.tenant.text, run.run, run.user.text, run.graph, run.graph_hash, run.input,
              run.options, run.created_at, or_null(run.forked_from), forked_at, run.ordinal,
              run.start_seal);
}

void RowBatch::add_checkpoint(const TenantId& tenant, const CheckpointRow& row, Table& table) {
  table.add(tenant.text, row.run, row.checkpoint_ns, row.seq, row.id, or_null(row.parent),
            row.state_seq, row.epoch, or_null(row.session), row.kind, row.node, row.superstep,
            row.next_tasks, store::kept_hash(row), row.retry_count, row.status, row.created_at);
}

void RowBatch::add_approval(const ApprovalRow& row) {
  // With votes, it is not as it was opened.
  bool is_open = row.status == ApprovalStatus::open && row.edited.empty();
  std::optional<Instant> decided_at;
  if (!is_open) decided_at = row.decided_at;
  opened_.add(row.tenant.text, row.interrupt, row.run, row.task, row.node, row.question,
              row.payload, hash_or_nothing(row.payload_hash), row.roles, row.seq, row.created_at,
              row.expires_at, row.status, is_open ? "" : row.decided_by, is_open ? "" : row.comment,
              is_open ? "" : row.edited, is_open ? "" : hash_or_nothing(row.edited_hash),
              decided_at, is_open ? "" : row.on_behalf_of, row.seal, row.decision_seal);
}

void RowBatch::add_value(const TenantId& tenant, const RunId& run, const ValueRow& row) {
  std::optional<WriteOp> kind;
  if (row.kind != WriteOp::set) kind = row.kind;
  if (row.thread.empty()) {
    values_.add(tenant.text, run, row.checkpoint_ns, row.channel, row.seq, row.index, kind,
                row.envelope);
  } else {
    thread_values_.add(tenant.text, run, row.channel, row.seq, row.index, kind, row.envelope);
  }
}

void RowBatch::add_work(const TenantId& tenant, const RunId& run, const CommitRows& rows) {
  for (const ValueRow& row : rows.values) add_value(tenant, run, row);
  for (const TaskRow& row : rows.tasks) {
    tasks_.table_for(key_of(tenant.text, row.run, row.checkpoint_ns, row.superstep, row.position))
        .add(tenant.text, row.run, row.checkpoint_ns, row.superstep, row.position, row.task,
             row.status, row.envelope);
  }
  for (const EffectRow& row : rows.effects) {
    effects_.table_for(key_of(tenant.text, row.run, row.task, row.name))
        .add(tenant.text, row.run, row.task, row.name, row.node, row.effect_class, row.status,
             row.attempt, row.created_at, row.updated_at, row.envelope, row.took_ms);
  }
  for (const CheckpointRow& row : rows.inner_checkpoints) {
    add_checkpoint(
        tenant, row,
        inner_checkpoints_.table_for(key_of(tenant.text, row.run, row.checkpoint_ns, row.seq)));
  }
}

void RowBatch::add_blobs(const TenantId& tenant, const CommitRows& rows) {
  for (const BlobRow& row : rows.blobs) {
    std::string id = store::bytes_of(row.id);
    if (!put_blobs_.insert(key_of(tenant.text, id)).second) continue;
    blob_puts_.add(tenant.text, id);
    blobs_.add(tenant.text, id, row.envelope);
  }
}

void RowBatch::add_children(const Commit& commit, const CommitRows& rows) {
  const TenantId& tenant = commit.tenant;
  for (const CheckpointRow& row : rows.earlier) add_checkpoint(tenant, row, checkpoints_);
  if (rows.checkpoint) add_checkpoint(tenant, *rows.checkpoint, checkpoints_);
  if (commit.run_guard) {
    add_work(tenant, rows.run ? rows.run->run : commit.run_guard->pending_for, rows);
  }
  add_blobs(tenant, rows);
  for (const EventRow& row : rows.events) {
    events_.add(tenant.text, row.run, row.seq, row.index, row.type, row.body, row.created_at,
                row.seal);
  }
  for (const OutboxRow& row : rows.outbox) {
    if (commit.message_guard) break;  // CommitWriter::move_message()
    messages_.add(tenant.text, row.run, row.seq, row.index, row.topic, row.status, row.attempts,
                  row.error, row.due_at, row.created_at, row.envelope, row.seal);
  }
  for (const ApprovalRow& row : rows.opened) add_approval(row);
  if (rows.ends_run) {
    closed_.add(tenant.text, rows.run->run);
    uncertain_.add(tenant.text, rows.run->run, rows.run->updated_at);
  }
  if (rows.run) add_records(tenant, rows, rows.run->updated_at);
}

void RowBatch::add_records(const TenantId& tenant, const CommitRows& rows, Instant updated_at) {
  for (const RecordPut& put : rows.records) add_record(tenant, put, rows, updated_at);
}

void RowBatch::add_record(const TenantId& tenant, const RecordPut& put, const CommitRows& rows,
                          Instant updated_at) {
  std::string key = key_of(tenant.text, put.collection, put.user.text, put.key);
  std::size_t round = records_.size();
  while (round > 0 && !records_[round - 1].keys.contains(key)) --round;
  if (round == records_.size()) records_.emplace_back();
  RecordRound& tables = records_[round];
  tables.keys.insert(std::move(key));
  tables.erased.add(tenant.text, put.collection, put.user.text, put.key, put.envelope.empty());
  if (put.envelope.empty()) return;
  RunId run = rows.run ? rows.run->run : RunId();
  tables.written.add(tenant.text, put.collection, put.user.text, put.key, put.envelope,
                     or_null(run), rows.run ? rows.run->seq : std::uint64_t{0}, updated_at,
                     put.seal, store::next_version(0, updated_at), or_null(put.expires_at));
  for (const auto& [field, value] : put.indexed) {
    tables.indexed.add(tenant.text, put.collection, put.user.text, field, sha256(value), put.key,
                       value);
  }
}

// blob_puts before blobs: the row of blob_puts is the lock of a blob. A deletion of unused blobs
// (CommitWriter::delete_blobs) takes it first, too, and then finds another put number.
void RowBatch::send(Connection& connection) const {
  threads_.send_with_count(connection);
  runs_.send_with_count(connection);
  starts_.send(connection);
  checkpoints_.send(connection);
  values_.send(connection);
  thread_values_.send(connection);
  tasks_.send(connection);
  effects_.send(connection);
  inner_checkpoints_.send(connection);
  blob_puts_.send(connection);
  blobs_.send(connection);
  events_.send(connection);
  messages_.send(connection);
  opened_.send(connection);
  // Last: the same commit might request an approval or start an effect.
  closed_.send(connection);
  uncertain_.send(connection);
  for (const RecordRound& round : records_) {
    round.erased.send(connection);
    round.written.send(connection);
    round.indexed.send(connection);
  }
}

}  // namespace belay::postgres
