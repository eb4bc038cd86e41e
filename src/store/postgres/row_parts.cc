#include "store/postgres/row_parts.h"

#include <array>

#include "belay/value.h"
#include "store/postgres/table.h"
#include "store/row_part.h"

namespace belay::postgres {
namespace {

// One kind of part. `read` reads `columns`, starting at the second column of a row.
struct PartSource {
  std::string_view table;
  std::string_view number;
  std::string_view from;  // names the table x, with the conditions other than the tenant's
  std::string_view columns;
  Result<StoredEnvelope> (*read)(const Rows& rows, int row, std::uint64_t place);
  std::string_view seal = "seal";
  std::array<std::string_view, 3> texts = {};  // columns, in the order of the part's texts
};

using Read = Result<StoredEnvelope>;

Read read_thread(const Rows& rows, int row, std::uint64_t place) {
  ThreadRow thread;
  thread.thread = ThreadId(rows.text(row, 1));
  thread.user = UserId(rows.text(row, 2));
  thread.graph = rows.text(row, 3);
  thread.created_at = rows.instant(row, 4);
  thread.expires_at = rows.instant(row, 5);
  thread.updated_at = rows.instant(row, 6);
  thread.title = rows.text(row, 7);
  thread.metadata = rows.text(row, 8);
  thread.seal = rows.text(row, 9);
  return store::stored_part(place, store::part_of(thread));
}

Read read_run(const Rows& rows, int row, std::uint64_t place) {
  RunRow run;
  run.run = RunId(rows.uuid(row, 1));
  BELAY_CHECK(read_enum(rows, row, 2, run.status));
  run.outcome = rows.text(row, 3);
  run.error_code = rows.text(row, 4);
  run.seq = rows.natural(row, 5);
  run.epoch = rows.natural(row, 6);
  run.session = SessionId(rows.uuid(row, 7));
  run.checkpoint = CheckpointId(rows.uuid(row, 8));
  run.node = rows.text(row, 9);
  run.retry_count = rows.number(row, 10);
  run.worked_ms = rows.number(row, 11);
  run.updated_at = rows.instant(row, 12);
  run.due_at = rows.instant(row, 13);
  run.lost_claims = rows.number(row, 14);
  run.error = rows.text(row, 15);
  run.reason = rows.text(row, 16);
  run.seal = rows.text(row, 17);
  return store::stored_part(place, store::part_of(run));
}

Read read_start(const Rows& rows, int row, std::uint64_t place) {
  RunRow run;
  run.run = RunId(rows.uuid(row, 1));
  run.thread = ThreadId(rows.text(row, 2));
  run.user = UserId(rows.text(row, 3));
  run.graph = rows.text(row, 4);
  run.graph_hash = rows.digest(row, 5);
  run.created_at = rows.instant(row, 6);
  run.forked_from = RunId(rows.uuid(row, 7));
  run.forked_at = rows.natural(row, 8);
  run.queue = rows.text(row, 9);
  run.priority = rows.number(row, 10);
  run.concurrency_key = rows.text(row, 11);
  run.ordinal = rows.number(row, 12);
  run.options = rows.text(row, 13);
  run.start_seal = rows.text(row, 14);
  return store::stored_part(place, store::start_part_of(run));
}

Read read_event(const Rows& rows, int row, std::uint64_t place) {
  EventRow event;
  event.run = RunId(rows.uuid(row, 1));
  event.seq = rows.natural(row, 2);
  event.index = rows.number(row, 3);
  event.type = rows.text(row, 4);
  event.created_at = rows.instant(row, 5);
  event.body = rows.text(row, 6);
  event.seal = rows.text(row, 7);
  return store::stored_part(place, store::part_of(event));
}

Read read_question(const Rows& rows, int row, std::uint64_t place) {
  ApprovalRow approval;
  approval.interrupt = InterruptId(rows.uuid(row, 1));
  approval.run = RunId(rows.uuid(row, 2));
  approval.task = TaskId(rows.uuid(row, 3));
  approval.node = rows.text(row, 4);
  approval.roles = rows.text(row, 5);
  approval.seq = rows.natural(row, 6);
  approval.created_at = rows.instant(row, 7);
  approval.expires_at = rows.instant(row, 8);
  approval.question = rows.text(row, 9);
  approval.seal = rows.text(row, 10);
  return store::stored_part(place, store::question_part_of(approval));
}

Read read_decision(const Rows& rows, int row, std::uint64_t place) {
  ApprovalRow approval;
  approval.interrupt = InterruptId(rows.uuid(row, 1));
  BELAY_CHECK(read_enum(rows, row, 2, approval.status));
  approval.decided_at = rows.instant(row, 3);
  approval.edited = rows.text(row, 4);
  approval.decided_by = rows.text(row, 5);
  approval.comment = rows.text(row, 6);
  approval.on_behalf_of = rows.text(row, 7);
  approval.decision_seal = rows.text(row, 8);
  return store::stored_part(place, store::decision_part_of(approval));
}

Read read_message(const Rows& rows, int row, std::uint64_t place) {
  OutboxRow message;
  message.run = RunId(rows.uuid(row, 1));
  message.seq = rows.natural(row, 2);
  message.index = rows.number(row, 3);
  message.topic = rows.text(row, 4);
  BELAY_CHECK(read_enum(rows, row, 5, message.status));
  message.attempts = rows.number(row, 6);
  message.due_at = rows.instant(row, 7);
  message.created_at = rows.instant(row, 8);
  message.error = rows.text(row, 9);
  message.seal = rows.text(row, 10);
  return store::stored_part(place, store::part_of(message));
}

// Indexed fields are JSON: names and values alternate.
Read read_index(const Rows& rows, int row, std::uint64_t place) {
  BELAY_TRY(Value indexed, parse_json(rows.text(row, 4)));
  std::vector<std::string> names_and_values;
  for (const Value& text : indexed.as_array() ? *indexed.as_array() : Value::Array()) {
    names_and_values.push_back(text.as_string() ? *text.as_string() : std::string());
  }
  std::string seal = rows.text(row, 5);
  return store::stored_part(
      place, store::index_part_of(rows.text(row, 1), UserId(rows.text(row, 2)), rows.text(row, 3),
                                  names_and_values, seal));
}

constexpr std::string_view is_indexed =
    " AND EXISTS (SELECT FROM belay.record_index i WHERE i.tenant = x.tenant"
    " AND i.collection = x.collection AND i.user_id = x.user_id AND i.key = x.key)";

// In the order of their numbers in positions: append, never reorder.
constexpr std::array<PartSource, 8> part_sources{{
    {"threads",
     "thread_number",
     "",
     "x.thread_id, x.user_id, x.graph, x.created_at, x.expires_at, x.updated_at, x.title,"
     " x.metadata, x.seal",
     read_thread,
     "seal",
     {"title", "metadata"}},
    {"runs",
     "run_number",
     "",
     "x.run_id, x.status, x.outcome, x.error_code, x.seq, x.epoch, x.session_id, x.checkpoint_id,"
     " x.node, x.retry_count, x.worked_ms, x.updated_at, x.due_at, x.lost_claims, x.error,"
     " x.reason, x.seal",
     read_run,
     "seal",
     {"error", "reason"}},
    {"run_starts",
     "start_number",
     " JOIN belay.runs r ON r.tenant = x.tenant AND r.run_id = x.run_id",
     "x.run_id, r.thread_id, x.user_id, x.graph, x.graph_hash, x.created_at, x.forked_from,"
     " x.forked_at, r.queue, r.priority, r.concurrency_key, x.ordinal, x.options, x.seal",
     read_start,
     "seal",
     {"options"}},
    {"events",
     "event_number",
     "",
     "x.run_id, x.seq, x.event_index, x.type, x.created_at, x.body, x.seal",
     read_event,
     "seal",
     {"body"}},
    {"approvals",
     "approval_number",
     "",
     "x.interrupt_id, x.run_id, x.task_id, x.node, x.roles, x.seq, x.created_at, x.expires_at,"
     " x.question, x.seal",
     read_question,
     "seal",
     {"question"}},
    {"approvals",
     "approval_number",
     "",
     "x.interrupt_id, x.status, x.decided_at, x.edited, x.decided_by, x.comment, x.on_behalf_of,"
     " x.decision_seal",
     read_decision,
     "decision_seal",
     {"decided_by", "comment", "on_behalf_of"}},
    {"outbox",
     "message_number",
     "",
     "x.run_id, x.seq, x.message_index, x.topic, x.status, x.attempts, x.due_at, x.created_at,"
     " x.error, x.seal",
     read_message,
     "seal",
     {"error"}},
    {"records", "record_number", "",
     "x.collection, x.user_id, x.key, (SELECT json_agg(t.text ORDER BY i.field, i.value, t.place)"
     "   FROM belay.record_index i"
     "   CROSS JOIN LATERAL (VALUES (1, i.field), (2, i.value)) AS t (place, text)"
     "  WHERE i.tenant = x.tenant AND i.collection = x.collection AND i.user_id = x.user_id"
     "    AND i.key = x.key)::text, x.seal",
     read_index},
}};

// Only decided approvals, and those with votes, have a decision, and only some records have indexed
// fields.
std::string_view condition_of(const PartSource& source) {
  if (source.read == read_decision) {
    return " AND (x.status NOT IN ('open', 'closed') OR x.edited <> '')";
  }
  return source.read == read_index ? is_indexed : std::string_view();
}

Query select_parts_from(const PartSource& source) {
  Query query("SELECT x." + std::string(source.number) + ", " + std::string(source.columns) +
              " FROM belay." + std::string(source.table) + " x");
  query.add(source.from);
  return query;
}

void rewrite_columns(Connection& connection, const TenantId& tenant, const PartSource& source,
                     const Rewrite& rewrite) {
  Query query("UPDATE belay." + std::string(source.table));
  query.add(" SET " + std::string(source.seal) + " = ?", Bytes{rewrite.envelope});
  for (std::size_t i = 0; i < rewrite.texts.size(); ++i) {
    query.add(", " + std::string(source.texts[i]) + " = ?", rewrite.texts[i]);
  }
  query.add(" WHERE tenant = ? AND " + std::string(source.number) + " = ?", tenant,
            rewrite.position & number_mask);
  if (!query.finds_nothing()) connection.send(query.sql(), query.parameters(), query.plan());
}

void rewrite_index(Connection& connection, const TenantId& tenant, const StoredEnvelope& stored,
                   const Rewrite& rewrite) {
  auto record = store::record_of_index(stored.subject);
  if (!record) return;
  Query gone("DELETE FROM belay.record_index");
  gone.add(" WHERE tenant = ? AND collection = ? AND user_id = ? AND key = ?", tenant,
           record->collection, record->user, record->key);
  connection.send(gone.sql(), gone.parameters(), gone.plan());
  Table indexed(
      "INSERT INTO belay.record_index (tenant, collection, user_id, field, value_hash, key, value)"
      " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
      {Type::text, Type::text, Type::text, Type::text, Type::bytes, Type::text, Type::text});
  for (std::size_t i = 0; i + 1 < rewrite.texts.size(); i += 2) {
    indexed.add(tenant.text, record->collection, record->user.text, rewrite.texts[i],
                sha256(rewrite.texts[i + 1]), record->key, rewrite.texts[i + 1]);
  }
  indexed.send(connection);
  Query sealed("UPDATE belay.records");
  sealed.add(" SET seal = ? WHERE tenant = ? AND record_number = ?", Bytes{rewrite.envelope},
             tenant, rewrite.position & number_mask);
  connection.send(sealed.sql(), sealed.parameters(), sealed.plan());
}

}  // namespace

Result<Done> list_parts(const Ask& ask, const EnvelopeFilter& filter, std::size_t sources_before,
                        std::vector<StoredEnvelope>& found) {
  for (std::size_t i = 0; i < part_sources.size() && found.size() < filter.limit; ++i) {
    const PartSource& source = part_sources[i];
    std::uint64_t base = static_cast<std::uint64_t>(sources_before + i + 1) << number_bits;
    if (filter.after >= base + number_mask) continue;
    auto look = [&](const Window& window) -> Result<Done> {
      Query query = select_parts_from(source);
      std::string number = "x." + std::string(source.number);
      query.add(" WHERE x.tenant = ? AND " + number + " > ? AND " + number + " <= ?", filter.tenant,
                window.after, window.last);
      query.add(condition_of(source));
      query.add(" ORDER BY " + number + " LIMIT ?", filter.limit - found.size());
      if (query.finds_nothing()) return Done{};
      BELAY_TRY(Rows rows, ask(query));
      for (int row = 0; row < rows.count(); ++row) {
        BELAY_TRY(StoredEnvelope part, source.read(rows, row, base + rows.natural(row, 0)));
        found.push_back(std::move(part));
      }
      return Done{};
    };
    std::uint64_t after = filter.after > base ? filter.after - base : 0;
    BELAY_CHECK(walk_places(ask, {source.table, source.number}, after, filter.limit, found, look));
  }
  return Done{};
}

Result<Done> rewrite_part(Connection& connection, const TenantId& tenant, const Rewrite& rewrite,
                          std::size_t sources_before) {
  std::size_t index = (rewrite.position >> number_bits) - sources_before - 1;
  if (index >= part_sources.size()) return Done{};
  const PartSource& source = part_sources[index];
  Query query = select_parts_from(source);
  query.add(" WHERE x.tenant = ? AND x." + std::string(source.number) + " = ?", tenant,
            rewrite.position & number_mask);
  query.add(condition_of(source));
  query.add(" FOR UPDATE OF x");
  if (query.finds_nothing()) return Done{};
  BELAY_TRY(Rows rows, connection.query(query.sql(), query.parameters(), query.plan()));
  if (rows.count() == 0) return Done{};
  BELAY_TRY(StoredEnvelope stored, source.read(rows, 0, rewrite.position));
  if (store::digest_of(stored) != rewrite.before) return Done{};
  if (stored.texts.size() != rewrite.texts.size()) return Done{};
  if (source.read == read_index) {
    rewrite_index(connection, tenant, stored, rewrite);
  } else {
    rewrite_columns(connection, tenant, source, rewrite);
  }
  return Done{};
}

}  // namespace belay::postgres
