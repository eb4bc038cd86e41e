#include "store/sqlite/row_parts.h"

#include <array>

#include "belay/value.h"
#include "store/row_part.h"
#include "store/sqlite/read_rows.h"
#include "store/sqlite/record_index.h"

namespace belay::sqlite {
namespace {

// One kind of part. `read` reads `columns`, starting at the second column of a row.
struct PartSource {
  std::string_view table;
  std::string_view number;
  std::string_view from;  // includes the tenant's condition; ?1 is the tenant's number
  std::string_view columns;
  Result<StoredEnvelope> (*read)(const Statement& row, std::uint64_t place);
  std::string_view seal = "seal";
  std::array<std::string_view, 3> texts = {};  // columns, in the order of the part's texts
};

using Read = Result<StoredEnvelope>;

Read read_thread(const Statement& row, std::uint64_t place) {
  ThreadRow thread;
  thread.thread = ThreadId(row.text(1));
  thread.user = UserId(row.text(2));
  thread.graph = row.text(3);
  thread.created_at = row.instant(4);
  thread.expires_at = row.instant(5);
  thread.updated_at = row.instant(6);
  thread.title = row.text(7);
  thread.metadata = row.text(8);
  thread.seal = row.text(9);
  return store::stored_part(place, store::part_of(thread));
}

Read read_run(const Statement& row, std::uint64_t place) {
  RunRow run;
  run.run = RunId(row.uuid(1));
  BELAY_CHECK(read_enum(row, 2, run.status));
  run.outcome = row.text(3);
  run.error_code = row.text(4);
  run.seq = row.natural(5);
  run.epoch = row.natural(6);
  run.session = SessionId(row.uuid(7));
  run.checkpoint = CheckpointId(row.uuid(8));
  run.node = row.text(9);
  run.retry_count = row.number(10);
  run.worked_ms = row.number(11);
  run.updated_at = row.instant(12);
  run.due_at = row.instant(13);
  run.lost_claims = row.number(14);
  run.error = row.text(15);
  run.reason = row.text(16);
  run.seal = row.text(17);
  return store::stored_part(place, store::part_of(run));
}

Read read_start(const Statement& row, std::uint64_t place) {
  RunRow run;
  run.run = RunId(row.uuid(1));
  run.thread = ThreadId(row.text(2));
  run.user = UserId(row.text(3));
  run.graph = row.text(4);
  run.graph_hash = row.digest(5);
  run.created_at = row.instant(6);
  run.forked_from = RunId(row.uuid(7));
  run.forked_at = row.natural(8);
  run.queue = row.text(9);
  run.priority = row.number(10);
  run.concurrency_key = row.text(11);
  run.ordinal = row.number(12);
  run.options = row.text(13);
  run.start_seal = row.text(14);
  return store::stored_part(place, store::start_part_of(run));
}

Read read_event(const Statement& row, std::uint64_t place) {
  EventRow event;
  event.run = RunId(row.uuid(1));
  event.seq = row.natural(2);
  event.index = row.number(3);
  event.type = row.text(4);
  event.created_at = row.instant(5);
  event.body = row.text(6);
  event.seal = row.text(7);
  return store::stored_part(place, store::part_of(event));
}

Read read_question(const Statement& row, std::uint64_t place) {
  ApprovalRow approval;
  approval.interrupt = InterruptId(row.uuid(1));
  approval.run = RunId(row.uuid(2));
  approval.task = TaskId(row.uuid(3));
  approval.node = row.text(4);
  approval.roles = row.text(5);
  approval.seq = row.natural(6);
  approval.created_at = row.instant(7);
  approval.expires_at = row.instant(8);
  approval.question = row.text(9);
  approval.seal = row.text(10);
  return store::stored_part(place, store::question_part_of(approval));
}

Read read_decision(const Statement& row, std::uint64_t place) {
  ApprovalRow approval;
  approval.interrupt = InterruptId(row.uuid(1));
  BELAY_CHECK(read_enum(row, 2, approval.status));
  approval.decided_at = row.instant(3);
  approval.edited = row.text(4);
  approval.decided_by = row.text(5);
  approval.comment = row.text(6);
  approval.on_behalf_of = row.text(7);
  approval.decision_seal = row.text(8);
  return store::stored_part(place, store::decision_part_of(approval));
}

Read read_message(const Statement& row, std::uint64_t place) {
  OutboxRow message;
  message.run = RunId(row.uuid(1));
  message.seq = row.natural(2);
  message.index = row.number(3);
  message.topic = row.text(4);
  BELAY_CHECK(read_enum(row, 5, message.status));
  message.attempts = row.number(6);
  message.due_at = row.instant(7);
  message.created_at = row.instant(8);
  message.error = row.text(9);
  message.seal = row.text(10);
  return store::stored_part(place, store::part_of(message));
}

Read read_index(const Statement& row, std::uint64_t place) {
  BELAY_TRY(Value indexed, parse_json(row.text(4)));
  std::vector<std::string> names_and_values;
  for (const Value& pair : indexed.as_array() ? *indexed.as_array() : Value::Array()) {
    for (const Value& text : pair.as_array() ? *pair.as_array() : Value::Array()) {
      names_and_values.push_back(text.as_string() ? *text.as_string() : std::string());
    }
  }
  std::string seal = row.text(5);
  return store::stored_part(place, store::index_part_of(row.text(1), UserId(row.text(2)),
                                                        row.text(3), names_and_values, seal));
}

// The index is part of positions: append, never reorder. The "+" prevents SQLite from using an
// index of the tenant instead of the order of the rows.
constexpr std::array<PartSource, 8> part_sources{{
    {"threads",
     "x.thread_number",
     "threads x WHERE +x.tenant_id = ?1",
     "x.thread_id, x.user_id, x.graph, x.created_at, x.expires_at, x.updated_at, x.title,"
     " x.metadata, x.seal",
     read_thread,
     "seal",
     {"title", "metadata"}},
    {"runs",
     "x.run_number",
     "runs x WHERE +x.tenant_id = ?1",
     "x.run_id, x.status, x.outcome, x.error_code, x.seq, x.epoch,"
     " (SELECT session_id FROM sessions WHERE number = x.session_number),"
     " (SELECT checkpoint_id FROM checkpoints c WHERE c.tenant_id = x.tenant_id"
     "   AND c.run_number = x.run_number AND c.namespace = '' AND c.seq = x.seq),"
     " x.node, x.retry_count, x.worked_ms, x.updated_at, x.due_at, x.lost_claims, x.error,"
     " x.reason, x.seal",
     read_run,
     "seal",
     {"error", "reason"}},
    {"run_starts",
     "x.run_number",
     "run_starts x CROSS JOIN runs r ON r.run_number = x.run_number"
     " CROSS JOIN threads t ON t.thread_number = r.thread_number"
     " CROSS JOIN graphs g ON g.graph_number = x.graph_number WHERE r.tenant_id = ?1",
     "r.run_id, t.thread_id, x.user_id, g.name, g.content_hash, x.created_at, x.forked_from,"
     " x.forked_at, coalesce(r.queue, 'default'), r.priority, r.concurrency_key, x.ordinal,"
     " x.options, x.seal",
     read_start,
     "seal",
     {"options"}},
    {"events",
     "x.event_number",
     "events x CROSS JOIN runs r ON r.run_number = x.run_number WHERE +x.tenant_id = ?1",
     "r.run_id, x.seq, x.event_index, x.type, x.created_at, x.body, x.seal",
     read_event,
     "seal",
     {"body"}},
    {"approvals",
     "x.approval_number",
     "approvals x CROSS JOIN runs r ON r.run_number = x.run_number WHERE +x.tenant_id = ?1",
     "x.interrupt_id, r.run_id, x.task_id, x.node, x.roles, x.seq, x.created_at, x.expires_at,"
     " x.question, x.seal",
     read_question,
     "seal",
     {"question"}},
    {"approvals",
     "x.approval_number",
     "approvals x WHERE +x.tenant_id = ?1 AND"
     " (x.status NOT IN ('open', 'closed') OR length(x.edited) > 0)",
     "x.interrupt_id, x.status, x.decided_at, x.edited, x.decided_by, x.comment, x.on_behalf_of,"
     " x.decision_seal",
     read_decision,
     "decision_seal",
     {"decided_by", "comment", "on_behalf_of"}},
    {"outbox",
     "x.message_number",
     "outbox x CROSS JOIN runs r ON r.run_number = x.run_number WHERE +x.tenant_id = ?1",
     "r.run_id, x.seq, x.message_index, x.topic, x.status, x.attempts, x.due_at, x.created_at,"
     " x.error, x.seal",
     read_message,
     "seal",
     {"error"}},
    {"records", "x.record_number", "records x WHERE +x.tenant_id = ?1 AND x.indexed <> '[]'",
     "x.collection, x.user_id, x.key, x.indexed, x.seal", read_index},
}};

std::string select_parts_from(const PartSource& source) {
  return "SELECT " + std::string(source.number) + ", " + std::string(source.columns) + " FROM " +
         std::string(source.from) + " AND " + std::string(source.number);
}

Result<Done> rewrite_columns(Connection& connection, const PartSource& source, std::uint64_t number,
                             const Rewrite& rewrite) {
  std::string sql = "UPDATE " + std::string(source.table) + " AS x SET " + std::string(source.seal);
  sql += " = ?";
  for (std::size_t i = 0; i < rewrite.texts.size(); ++i) {
    sql += ", " + std::string(source.texts[i]) + " = ?";
  }
  BELAY_TRY(Statement row,
            connection.prepare(sql + " WHERE " + std::string(source.number) + " = ?"));
  row.bind_blob(rewrite.envelope);
  for (const std::string& text : rewrite.texts) row.bind(text);
  row.bind(number);
  BELAY_CHECK(connection.run(std::move(row)));
  return Done{};
}

Result<Done> rewrite_index(Connection& connection, std::int64_t tenant, std::uint64_t number,
                           const StoredEnvelope& stored, const Rewrite& rewrite) {
  auto pairs_of = [](const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
      pairs.emplace_back(texts[i], texts[i + 1]);
    }
    return pairs;
  };
  auto record = store::record_of_index(stored.subject);
  if (!record) return Done{};
  RecordPut put{record->collection, record->user, record->key, {}, pairs_of(rewrite.texts)};
  std::string indexed = text_of_index(put.indexed);
  BELAY_CHECK(forget_index(connection, tenant, put, text_of_index(pairs_of(stored.texts))));
  BELAY_CHECK(put_index(connection, tenant, put));
  BELAY_TRY(Statement row, connection.prepare("UPDATE records SET seal = ?, indexed = ?"
                                              " WHERE record_number = ?"));
  row.bind_blob(rewrite.envelope).bind(indexed).bind(number);
  BELAY_CHECK(connection.run(std::move(row)));
  return Done{};
}

}  // namespace

Result<Done> list_parts(Connection& connection, std::int64_t tenant, const EnvelopeFilter& filter,
                        std::size_t sources_before, std::vector<StoredEnvelope>& found) {
  for (std::size_t i = 0; i < part_sources.size() && found.size() < filter.limit; ++i) {
    std::uint64_t base = static_cast<std::uint64_t>(sources_before + i + 1) << number_bits;
    if (filter.after >= base + number_mask) continue;
    std::string number(part_sources[i].number);
    BELAY_TRY(Statement rows, connection.prepare(select_parts_from(part_sources[i]) +
                                                 " > ?2 ORDER BY " + number + " LIMIT ?3"));
    rows.bind(tenant).bind(filter.after > base ? filter.after - base : std::uint64_t{0});
    rows.bind(filter.limit - found.size());
    Statement::Step step = rows.step();
    for (; step == Statement::Step::row; step = rows.step()) {
      BELAY_TRY(StoredEnvelope part, part_sources[i].read(rows, base + rows.natural(0)));
      found.push_back(std::move(part));
    }
    if (step == Statement::Step::failed) return connection.error();
  }
  return Done{};
}

Result<Done> rewrite_part(Connection& connection, std::int64_t tenant, const Rewrite& rewrite,
                          std::size_t sources_before) {
  std::size_t index = (rewrite.position >> number_bits) - sources_before - 1;
  if (index >= part_sources.size()) return Done{};
  const PartSource& source = part_sources[index];
  std::uint64_t number = rewrite.position & number_mask;
  StoredEnvelope stored;
  {
    BELAY_TRY(Statement row, connection.prepare(select_parts_from(source) + " = ?2"));
    row.bind(tenant).bind(number);
    Statement::Step step = row.step();
    if (step == Statement::Step::failed) return connection.error();
    if (step == Statement::Step::done) return Done{};
    BELAY_TRY(stored, source.read(row, rewrite.position));
  }
  if (store::digest_of(stored) != rewrite.before) return Done{};
  if (stored.texts.size() != rewrite.texts.size()) return Done{};
  if (source.read == read_index) return rewrite_index(connection, tenant, number, stored, rewrite);
  return rewrite_columns(connection, source, number, rewrite);
}

}  // namespace belay::sqlite
