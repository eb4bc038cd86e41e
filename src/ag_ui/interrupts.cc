#include "ag_ui/interrupts.h"

#include "base/in_quotes.h"
#include "conversation/conversation.h"

namespace belay::ag_ui {
namespace {

constexpr std::string_view kCancelled = "Cancelled by the client.";

Value described(std::string_view type, std::string_view description) {
  Value schema = Value::object({{"description", description}});
  if (!type.empty()) schema.as_object()->emplace("type", type);
  return schema;
}

Value response_schema(const Value& payload, bool is_call) {
  Value::Object properties{{"approved", described("boolean", "True approves, false rejects")},
                           {"comment", described("string", "Recorded with the decision")}};
  if (is_call) {
    properties.emplace(
        "editedArgs", described("object", "To approve the call with other arguments: all of them"));
  } else if (!payload.is_null()) {
    properties.emplace("edited", described("", "To approve other data: the whole payload"));
  }
  return Value::object({{"type", "object"},
                        {"properties", Value(std::move(properties))},
                        {"required", Value::Array{"approved"}}});
}

}  // namespace

Value interrupt_of(const ApprovalRow& approval, const std::set<std::string>& calls) {
  Value payload = payload_of(approval);
  const std::string* call = payload["call"].as_string();
  bool is_call = payload["tool"].as_string() && payload["arguments"].as_object();
  bool is_known = is_call && call && calls.contains(*call);
  Value about = Value::object({{"node", approval.node},
                               {"payload", payload},
                               {"payloadHash", to_hex(approval.payload_hash)},
                               {"roles", approval.roles}});
  Value::Object interrupt{{"id", approval.interrupt.text()},
                          {"reason", is_known ? "tool_call" : "confirmation"},
                          {"message", approval.question},
                          {"responseSchema", response_schema(payload, is_call)},
                          {"metadata", Value::object({{"belay", std::move(about)}})}};
  if (is_known) interrupt.emplace("toolCallId", *call);
  if (approval.expires_at != Instant()) {
    interrupt.emplace("expiresAt", to_text(approval.expires_at));
  }
  return Value(std::move(interrupt));
}

Result<Decision> decision_of(const ResumeEntry& entry, const ApprovalRow& approval) {
  Decision decision;
  if (entry.is_cancelled) {
    decision.comment = kCancelled;
    return decision;
  }
  auto reply = conversation::decision_of_reply(entry.payload);
  if (!reply.ok()) {
    return error(ErrorCode::invalid,
                 "Interrupt " + in_quotes(entry.interrupt.text()) + ": " + reply.error().message);
  }
  decision.approved = reply->approved;
  decision.comment = reply->comment;
  Value edited = conversation::edited_payload(*reply, payload_of(approval));
  if (!edited.is_null()) decision.edited = std::move(edited);
  return decision;
}

}  // namespace belay::ag_ui
