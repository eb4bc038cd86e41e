#include "cli/documents.h"

namespace belay::cli {
namespace {

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value id_or_null(const Uuid& id) { return id.is_null() ? Value() : Value(id.text()); }

Value in_envelope(const std::string& envelope) {
  if (envelope.empty()) return Value();
  auto json = json_in_envelope(envelope);
  if (!json.ok()) return Value();
  return parse_json(*json).value_or(Value());
}

Value run_error(const RunRow& row) {
  if (row.status != RunStatus::failed && row.error.empty()) return Value();
  return Value::object({{"code", row.error_code}, {"message", row.error}});
}

Value run_summary(const RunRow& row) {
  return Value::object({
      {"threadId", row.thread.text},
      {"runId", row.run.text()},
      {"agent", row.graph},
      {"userId", row.user.text},
      {"status", name_of(row.status)},
      {"reason", text_or_null(row.reason)},
      {"outcome", text_or_null(row.outcome)},
      {"success", row.status != RunStatus::failed},
      {"currentNode", row.node},
      {"seq", row.seq},
      {"retryCount", row.retry_count},
      {"workedMs", row.worked_ms},
      {"createdAt", to_text(row.created_at)},
      {"updatedAt", to_text(row.updated_at)},
      {"error", run_error(row)},
  });
}

}  // namespace

Value payload_of(const ApprovalRow& row) { return in_envelope(row.payload); }

Value edited_of(const ApprovalRow& row) { return in_envelope(row.edited); }

Value approval_document(const Program& program, const ApprovalRow& row) {
  bool decided = row.decided_at != Instant{};
  Value document = Value::object({
      {"interruptId", row.interrupt.text()},
      {"threadId", row.thread.text},
      {"runId", row.run.text()},
      {"agent", row.graph},
      {"userId", row.user.text},
      {"node", row.node},
      {"question", row.question},
      {"status", name_of(row.status)},
      {"payload", payload_of(row)},
      {"payloadHash", to_hex(row.payload_hash)},
      {"createdAt", to_text(row.created_at)},
      {"expiresAt", to_text(row.expires_at)},
      {"decidedAt", decided ? Value(to_text(row.decided_at)) : Value()},
      {"decidedBy", text_or_null(row.decided_by)},
      {"comment", text_or_null(row.comment)},
      {"editedPayload", edited_of(row)},
  });
  if (const auto& more = program.presentation.approval_document) more(row, *document.as_object());
  return document;
}

Value run_document(const Program& program, const RunView& view) {
  Value document = run_summary(view.row);
  document.as_object()->emplace("state", view.state);
  Value approval;
  if (view.approval) approval = approval_document(program, *view.approval);
  document.as_object()->emplace("approval", std::move(approval));
  Value spending;
  if (view.spending) {
    spending = Value::object({{"tokens", view.spending->spent.tokens},
                              {"money", view.spending->spent.money},
                              {"reservedTokens", view.spending->reserved.tokens},
                              {"reservedMoney", view.spending->reserved.money}});
  }
  document.as_object()->emplace("spending", std::move(spending));
  return document;
}

Value checkpoint_document(const CheckpointRow& row) {
  return Value::object({
      {"checkpointId", row.id.text()},
      {"parentId", id_or_null(row.parent)},
      {"seq", row.seq},
      {"epoch", row.epoch},
      {"kind", name_of(row.kind)},
      {"node", text_or_null(row.node)},
      {"superstep", row.superstep},
      {"status", name_of(row.status)},
      {"retryCount", row.retry_count},
      {"createdAt", to_text(row.created_at)},
      {"hash", to_hex(row.chain_hash)},
  });
}

Value thread_document(const ThreadRow& thread, const std::optional<RunRow>& run) {
  return Value::object({
      {"threadId", thread.thread.text},
      {"agent", thread.graph},
      {"userId", thread.user.text},
      {"createdAt", to_text(thread.created_at)},
      {"run", run ? run_summary(*run) : Value()},
  });
}

}  // namespace belay::cli
