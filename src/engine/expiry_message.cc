#include "engine/expiry_message.h"

#include "belay/detail/expiry_envelope.h"
#include "belay/limits.h"

namespace belay::engine {
namespace {

Error damaged(const ApprovalRow& approval) {
  return error(ErrorCode::corrupt, "The expiry message of approval " + approval.interrupt.text() +
                                       " is damaged. Restore a backup.");
}

Value body_of(const ApprovalRow& expired, Value data) {
  Value::Object body{{"event", "approval.expired"},
                     {"interruptId", expired.interrupt.text()},
                     {"threadId", expired.thread.text},
                     {"runId", expired.run.text()},
                     {"userId", expired.user.text},
                     {"agent", expired.graph},
                     {"node", expired.node},
                     {"question", expired.question},
                     {"createdAt", to_text(expired.created_at)},
                     {"expiredAt", to_text(expired.expires_at)},
                     // An expiry has the consequences of a rejection.
                     {"decision", "rejected"}};
  if (!data.is_null()) body.emplace("data", std::move(data));
  return Value(std::move(body));
}

}  // namespace

std::string payload_envelope(std::string_view payload,
                             const std::optional<ExpiryMessage>& message) {
  if (!message) return json_envelope(payload);
  Value::Object stored{{"topic", message->topic}};
  if (!message->data.is_null()) stored.emplace("data", message->data);
  return detail::expiry_envelope(to_json(Value(std::move(stored))), payload);
}

Result<std::optional<ExpiryMessage>> expiry_message_of(const ApprovalRow& approval) {
  BELAY_TRY(auto parts, detail::with_expiry_message(approval.payload));
  if (parts.message.empty()) return std::optional<ExpiryMessage>();
  auto stored = parse_json(parts.message, limits::document_depth_max);
  if (!stored.ok()) return damaged(approval);
  const std::string* topic = (*stored)["topic"].as_string();
  if (!topic || topic->empty()) return damaged(approval);
  return std::optional(ExpiryMessage{*topic, (*stored)["data"]});
}

Result<std::optional<OutboxRow>> expiry_outbox_row(const ApprovalRow& expired, Instant now) {
  BELAY_TRY(auto message, expiry_message_of(expired));
  if (!message) return std::optional<OutboxRow>();
  OutboxRow row;
  row.run = expired.run;
  row.seq = expired.seq;
  row.index = detail::expiry_message_index(expired.interrupt);
  row.topic = std::move(message->topic);
  row.envelope = json_envelope(to_json(body_of(expired, std::move(message->data))));
  row.due_at = now;
  row.created_at = now;
  return std::optional(std::move(row));
}

}  // namespace belay::engine
