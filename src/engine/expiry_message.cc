#include "engine/expiry_message.h"

#include "belay/detail/expiry_envelope.h"
#include "belay/limits.h"

namespace belay::engine {
namespace {

std::string outcome_of(const ApprovalTerms& terms) {
  if (terms.when_expired == "reject") return "rejected";
  if (terms.when_expired == "approve") return "approved";
  return terms.when_expired == "fail" ? "failed" : terms.when_expired;
}

Value body_of(const ApprovalRow& expired, const ApprovalTerms& terms) {
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
                     // The decision that was made at the expiry.
                     {"decision", outcome_of(terms)}};
  const Value& data = terms.on_expiry->data;
  if (!data.is_null()) body.emplace("data", data);
  return Value(std::move(body));
}

}  // namespace

Result<std::optional<OutboxRow>> expiry_outbox_row(const ApprovalRow& expired, Instant now) {
  BELAY_TRY(ApprovalTerms terms, terms_of(expired));
  if (!terms.on_expiry) return std::optional<OutboxRow>();
  OutboxRow row;
  row.run = expired.run;
  row.seq = expired.seq;
  row.index = detail::expiry_message_index(expired.interrupt);
  row.topic = terms.on_expiry->topic;
  row.envelope = json_envelope(to_json(body_of(expired, terms)));
  row.due_at = now;
  row.created_at = now;
  return std::optional(std::move(row));
}

}  // namespace belay::engine
