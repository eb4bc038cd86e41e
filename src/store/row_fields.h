#pragma once
// store/row_fields.h - the fields of each stored row, listed once: their names in files, and the
// columns of their tables in SQL. Reads of both SQL stores, exported files and the comparison of
// the stores are generated from these lists: a new member of a row is one line here.
//
// Not listed are members that a reader knows already: the tenant, and the run of rows that are read
// or exported by run.

#include <string>
#include <string_view>
#include <tuple>

#include "belay/queue.h"
#include "belay/rows.h"

namespace belay::store {

// How a field is stored and exported.
enum class FieldUse {
  plain,
  envelope,      // bytes; exported as the JSON inside
  rarely_set,    // exported only if it differs from the default
  only_stored,   // not exported: seals, and what files store otherwise
  only_exported  // not a column: stores compute it, or read it by another condition
};

template <typename Row, typename M, FieldUse how>
struct Field {
  static constexpr FieldUse use = how;
  std::string_view name;    // in files
  std::string_view column;  // in SQL
  M Row::* member;
};

template <FieldUse how = FieldUse::plain, typename Row, typename M>
constexpr Field<Row, M, how> field(std::string_view name, std::string_view column,
                                   M Row::* member) {
  return {name, column, member};
}

using Use = FieldUse;

template <typename Row>
inline constexpr auto fields = std::tuple<>();

template <>
inline constexpr auto fields<ThreadRow> = std::tuple(
    field("threadId", "thread_id", &ThreadRow::thread), field("user", "user_id", &ThreadRow::user),
    field("graph", "graph", &ThreadRow::graph),
    field("createdAt", "created_at", &ThreadRow::created_at),
    field<Use::only_stored>("", "last_run", &ThreadRow::last_run),
    field("preserve", "preserve", &ThreadRow::preserve),
    field<Use::rarely_set>("title", "title", &ThreadRow::title),
    field<Use::rarely_set>("metadata", "metadata", &ThreadRow::metadata),
    field<Use::rarely_set>("expiresAt", "expires_at", &ThreadRow::expires_at),
    field<Use::rarely_set>("updatedAt", "updated_at", &ThreadRow::updated_at),
    field<Use::only_stored>("", "seal", &ThreadRow::seal));

template <>
inline constexpr auto fields<RunRow> = std::tuple(
    field("runId", "run_id", &RunRow::run), field("threadId", "thread_id", &RunRow::thread),
    field("user", "user_id", &RunRow::user), field("graph", "graph", &RunRow::graph),
    field("graphHash", "graph_hash", &RunRow::graph_hash),
    field<Use::envelope>("input", "input", &RunRow::input),
    field("options", "options", &RunRow::options),
    field("createdAt", "created_at", &RunRow::created_at),
    field("forkedFrom", "forked_from", &RunRow::forked_from),
    field("forkedAt", "forked_at", &RunRow::forked_at),
    field<Use::rarely_set>("queue", "queue", &RunRow::queue),
    field<Use::rarely_set>("priority", "priority", &RunRow::priority),
    field<Use::rarely_set>("concurrencyKey", "concurrency_key", &RunRow::concurrency_key),
    field<Use::rarely_set>("ordinal", "ordinal", &RunRow::ordinal),
    field("status", "status", &RunRow::status), field("reason", "reason", &RunRow::reason),
    field("outcome", "outcome", &RunRow::outcome),
    field("errorCode", "error_code", &RunRow::error_code), field("error", "error", &RunRow::error),
    field("seq", "seq", &RunRow::seq), field("epoch", "epoch", &RunRow::epoch),
    field("sessionId", "session_id", &RunRow::session),
    field("checkpointId", "checkpoint_id", &RunRow::checkpoint),
    field("node", "node", &RunRow::node), field("retryCount", "retry_count", &RunRow::retry_count),
    field("workedMs", "worked_ms", &RunRow::worked_ms),
    field("updatedAt", "updated_at", &RunRow::updated_at),
    field("dueAt", "due_at", &RunRow::due_at),
    field("lostClaims", "lost_claims", &RunRow::lost_claims),
    field<Use::only_stored>("", "seal", &RunRow::seal),
    field<Use::only_stored>("", "start_seal", &RunRow::start_seal));

// The chain hash and its masked form share a column: see store/stored_digest.h.
template <>
inline constexpr auto fields<CheckpointRow> = std::tuple(
    field("checkpointId", "checkpoint_id", &CheckpointRow::id),
    field("parentId", "parent_id", &CheckpointRow::parent),
    field<Use::only_stored>("", "namespace", &CheckpointRow::checkpoint_ns),
    field("seq", "seq", &CheckpointRow::seq),
    field("stateSeq", "state_seq", &CheckpointRow::state_seq),
    field("epoch", "epoch", &CheckpointRow::epoch),
    field("sessionId", "session_id", &CheckpointRow::session),
    field("kind", "kind", &CheckpointRow::kind), field("node", "node", &CheckpointRow::node),
    field("superstep", "superstep", &CheckpointRow::superstep),
    field("nextTasks", "next_tasks", &CheckpointRow::next_tasks),
    field<Use::only_exported>("hash", "", &CheckpointRow::chain_hash),
    field("retryCount", "retry_count", &CheckpointRow::retry_count),
    field("status", "status", &CheckpointRow::status),
    field("createdAt", "created_at", &CheckpointRow::created_at));

// The values of threads' states are in another table, without a namespace.
template <>
inline constexpr auto fields<ValueRow> = std::tuple(
    field<Use::only_stored>("", "thread_id", &ValueRow::thread),
    field<Use::only_stored>("", "namespace", &ValueRow::checkpoint_ns),
    field("channel", "channel", &ValueRow::channel), field("seq", "seq", &ValueRow::seq),
    field("index", "value_index", &ValueRow::index), field("kind", "kind", &ValueRow::kind),
    field<Use::envelope>("value", "envelope", &ValueRow::envelope));

template <>
inline constexpr auto fields<EventRow> =
    std::tuple(field("seq", "seq", &EventRow::seq), field("index", "event_index", &EventRow::index),
               field("type", "type", &EventRow::type), field("body", "body", &EventRow::body),
               field("createdAt", "created_at", &EventRow::created_at),
               field<Use::only_stored>("", "seal", &EventRow::seal));

template <>
inline constexpr auto fields<TaskRow> = std::tuple(
    field("superstep", "superstep", &TaskRow::superstep),
    field("position", "position", &TaskRow::position), field("taskId", "task_id", &TaskRow::task),
    field("status", "status", &TaskRow::status),
    field<Use::envelope>("value", "envelope", &TaskRow::envelope));

template <>
inline constexpr auto fields<EffectRow> =
    std::tuple(field<Use::only_stored>("", "run_id", &EffectRow::run),
               field("taskId", "task_id", &EffectRow::task),
               field("name", "name", &EffectRow::name), field("node", "node", &EffectRow::node),
               field("class", "effect_class", &EffectRow::effect_class),
               field("status", "status", &EffectRow::status),
               field<Use::envelope>("value", "envelope", &EffectRow::envelope),
               field("attempts", "attempt", &EffectRow::attempt),
               field("createdAt", "created_at", &EffectRow::created_at),
               field("updatedAt", "updated_at", &EffectRow::updated_at),
               field<Use::rarely_set>("tookMs", "took_ms", &EffectRow::took_ms));

template <>
inline constexpr auto fields<OutboxRow> = std::tuple(
    field<Use::only_stored>("", "run_id", &OutboxRow::run), field("seq", "seq", &OutboxRow::seq),
    field("index", "message_index", &OutboxRow::index), field("topic", "topic", &OutboxRow::topic),
    field<Use::envelope>("value", "envelope", &OutboxRow::envelope),
    field("status", "status", &OutboxRow::status),
    field("attempts", "attempts", &OutboxRow::attempts), field("error", "error", &OutboxRow::error),
    field("dueAt", "due_at", &OutboxRow::due_at),
    field("createdAt", "created_at", &OutboxRow::created_at),
    field<Use::only_stored>("", "seal", &OutboxRow::seal));

template <>
inline constexpr auto fields<ApprovalRow> =
    std::tuple(field("interruptId", "interrupt_id", &ApprovalRow::interrupt),
               field<Use::only_stored>("", "thread_id", &ApprovalRow::thread),
               field<Use::only_stored>("", "run_id", &ApprovalRow::run),
               field("taskId", "task_id", &ApprovalRow::task),
               field<Use::only_stored>("", "user_id", &ApprovalRow::user),
               field<Use::only_stored>("", "graph", &ApprovalRow::graph),
               field("node", "node", &ApprovalRow::node),
               field("question", "question", &ApprovalRow::question),
               field<Use::envelope>("payload", "payload", &ApprovalRow::payload),
               field("payloadHash", "payload_hash", &ApprovalRow::payload_hash),
               field("roles", "roles", &ApprovalRow::roles), field("seq", "seq", &ApprovalRow::seq),
               field("createdAt", "created_at", &ApprovalRow::created_at),
               field("expiresAt", "expires_at", &ApprovalRow::expires_at),
               field("status", "status", &ApprovalRow::status),
               field("decidedBy", "decided_by", &ApprovalRow::decided_by),
               field<Use::rarely_set>("onBehalfOf", "on_behalf_of", &ApprovalRow::on_behalf_of),
               field("comment", "comment", &ApprovalRow::comment),
               field<Use::envelope>("edited", "edited", &ApprovalRow::edited),
               field("editedHash", "edited_hash", &ApprovalRow::edited_hash),
               field("decidedAt", "decided_at", &ApprovalRow::decided_at),
               field<Use::only_stored>("", "seal", &ApprovalRow::seal),
               field<Use::only_stored>("", "decision_seal", &ApprovalRow::decision_seal));

template <>
inline constexpr auto fields<StoredRecord> = std::tuple(
    field("collection", "collection", &StoredRecord::collection),
    field("user", "user_id", &StoredRecord::user), field("key", "key", &StoredRecord::key),
    field<Use::envelope>("value", "envelope", &StoredRecord::envelope),
    field("runId", "run_id", &StoredRecord::run), field("seq", "seq", &StoredRecord::seq),
    field("updatedAt", "updated_at", &StoredRecord::updated_at),
    field<Use::only_stored>("", "seal", &StoredRecord::seal),
    field("version", "version", &StoredRecord::version),
    field("expiresAt", "expires_at", &StoredRecord::expires_at),
    field<Use::only_stored>("", "sort_value", &StoredRecord::sort_value));

template <>
inline constexpr auto fields<QueueRow> =
    std::tuple(field("name", "name", &QueueRow::name), field("paused", "paused", &QueueRow::paused),
               field("runsMax", "runs_max", &QueueRow::runs_max),
               field("perKeyMax", "per_key_max", &QueueRow::per_key_max),
               field("updatedAt", "updated_at", &QueueRow::updated_at));

// Calls visit(field) for each field of a row, in the order of the list.
template <typename Row, typename Visit>
constexpr void for_each_field(Visit visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, fields<Row>);
}

// An SQL expression that is selected instead of a column.
struct ColumnSql {
  std::string_view column;
  std::string_view sql;
};

// Returns the columns of a row for a SELECT, in the order of read_fields(): "t.a, t.b". Columns in
// `instead` are replaced by their expressions.
template <typename Row>
std::string select_list(std::string_view table, std::initializer_list<ColumnSql> instead = {}) {
  std::string list;
  for_each_field<Row>([&](const auto& each) {
    if (each.use == Use::only_exported) return;
    if (!list.empty()) list += ", ";
    for (const ColumnSql& other : instead) {
      if (other.column == each.column) {
        list += other.sql;
        return;
      }
    }
    list += table;
    list += '.';
    list += each.column;
  });
  return list;
}

// Reads the columns of select_list() into a row: read(column, member) for each of them, which
// returns a Result<Done>. The first error ends it.
template <typename Row, typename Read>
Result<Done> read_fields(Row& row, Read read) {
  int column = 0;
  Result<Done> done = Done{};
  for_each_field<Row>([&](const auto& each) {
    if (each.use == Use::only_exported || !done.ok()) return;
    done = read(column++, row.*each.member);
  });
  return done;
}

// The number of columns of select_list().
template <typename Row>
constexpr int column_count() {
  int count = 0;
  for_each_field<Row>([&](const auto& each) { count += each.use != Use::only_exported; });
  return count;
}

}  // namespace belay::store
