#include "ag_ui/interrupts.h"

#include "base/in_quotes.h"
#include "belay/approval.h"
#include "conversation/conversation.h"

namespace belay::ag_ui {
namespace {

constexpr std::string_view kCancelled = "Cancelled by the client.";

Value described(std::string_view type, std::string_view description) {
  Value schema = Value::object({{"description", description}});
  if (!type.empty()) schema.as_object()->emplace("type", type);
  return schema;
}

Value response_schema(const ApprovalRow& approval, const Value& payload, bool is_call) {
  Value::Object properties{{"comment", described("string", "Recorded with the decision")}};
  auto terms = terms_of(approval);
  bool is_plain = !terms.ok() || terms->is_plain();
  if (is_plain) {
    properties.emplace("approved", described("boolean", "True approves, false rejects"));
  } else {
    Value choice = described("string", "The decision");
    Value::Array names;
    for (const ApprovalChoice& each : terms->choices) names.emplace_back(each.name);
    choice.as_object()->emplace("enum", std::move(names));
    properties.emplace("choice", std::move(choice));
  }
  if (terms.ok() && !terms->answer_schema.is_null()) {
    properties.emplace("answer", terms->answer_schema);
  }
  if (is_call) {
    properties.emplace(
        "editedArgs", described("object", "To approve the call with other arguments: all of them"));
  } else if (!payload.is_null()) {
    properties.emplace("edited", described("", "To approve other data: the whole payload"));
  }
  return Value::object({{"type", "object"},
                        {"properties", Value(std::move(properties))},
                        {"required", Value::Array{is_plain ? "approved" : "choice"}}});
}

// Adds the number of decisions that the approval needs, and those that were made.
void add_votes(const ApprovalRow& approval, const ShownVotes& shown, Value::Object& about) {
  auto terms = terms_of(approval);
  auto reply = reply_of(approval);
  if (!terms.ok() || !reply.ok() || terms->needs == 1) return;
  Value::Array votes;
  for (const ApprovalVote& vote : reply->votes) {
    bool is_made = vote.at < shown.before || vote.at <= shown.until;
    if (is_made) votes.push_back(detail::value_of(vote));
  }
  about.emplace("needs", terms->needs);
  about.emplace("votes", std::move(votes));
}

}  // namespace

Value interrupt_of(const ApprovalRow& approval, const std::set<std::string>& calls,
                   const ShownVotes& shown) {
  Value payload = payload_of(approval);
  const std::string* call = payload["call"].as_string();
  bool is_call = payload["tool"].as_string() && payload["arguments"].as_object();
  bool is_known = is_call && call && calls.contains(*call);
  Value about = Value::object({{"node", approval.node},
                               {"payload", payload},
                               {"payloadHash", to_hex(approval.payload_hash)},
                               {"roles", approval.roles}});
  conversation::add_offered(approval, *about.as_object());
  add_votes(approval, shown, *about.as_object());
  Value::Object interrupt{{"id", approval.interrupt.text()},
                          {"reason", is_known ? "tool_call" : "confirmation"},
                          {"message", approval.question},
                          {"responseSchema", response_schema(approval, payload, is_call)},
                          {"metadata", Value::object({{"belay", std::move(about)}})}};
  if (is_known) interrupt.emplace("toolCallId", *call);
  if (approval.expires_at != Instant() && approval.expires_at != never_expires) {
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
  auto reply = conversation::decision_of_reply(entry.payload, approval);
  if (!reply.ok()) {
    return error(ErrorCode::invalid,
                 "Interrupt " + in_quotes(entry.interrupt.text()) + ": " + reply.error().message);
  }
  return *std::move(reply);
}

}  // namespace belay::ag_ui
