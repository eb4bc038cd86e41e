#include "ag_ui/decision_checks.h"

#include <algorithm>
#include <iterator>

#include "base/in_quotes.h"
#include "belay/approval.h"
#include "belay/models.h"
#include "engine/decision.h"
#include "runtime/decision_event.h"
#include "service/json_encode.h"

namespace belay::ag_ui {
namespace {

Error about_interrupt(const ApprovalRow& approval, const Error& why) {
  return error(why.code, "Interrupt " + in_quotes(approval.interrupt.text()) + ": " + why.message);
}

Error form_fault(std::string_view what, const std::string& violation) {
  return error(ErrorCode::invalid, "The " + std::string(what) + " does not fit: " + violation +
                                       ". Nothing was decided.");
}

// The schema of the channel that an approval node shows; null: not known, as that of a subgraph.
const Value& schema_of_edit(const Value& agent, const ApprovalRow& approval) {
  static const Value unknown;
  if (!engine::is_of_approval_node(approval)) return unknown;
  const Value::Array* nodes = agent["nodes"].as_array();
  for (std::size_t i = 0; nodes && i < nodes->size(); ++i) {
    const Value& node = (*nodes)[i];
    const std::string* channel = node["approval"]["channel"].as_string();
    if (channel && node["name"] == Value(approval.node)) {
      return agent["inputSchema"]["properties"][*channel];
    }
  }
  return unknown;
}

Result<Done> check_forms(const ResumeAnswer& answer, const Value& agent) {
  BELAY_TRY(ApprovalTerms terms, terms_of(answer.approval));
  const Value& given = answer.decision.answer;
  if (!given.is_null() && !terms.answer_schema.is_null()) {
    auto violation = schema_violation(terms.answer_schema, given);
    if (violation) return form_fault("answer", *violation);
  }
  const Value& schema = schema_of_edit(agent, answer.approval);
  if (answer.decision.edited && !schema.is_null()) {
    auto violation = schema_violation(schema, *answer.decision.edited);
    if (violation) return form_fault("edited payload", *violation);
  }
  return Done{};
}

// Refuses a decision that the approval, which is open, does not accept any more.
Result<Done> check_standing(const ResumeAnswer& answer, engine::Decided event, Instant now) {
  const ApprovalRow& approval = answer.approval;
  DecisionResult made;
  made.approval = approval;
  if (approval.expires_at <= now) {
    if (answer.entry.is_cancelled) return Done{};
    made.kind = DecisionResult::Kind::expired;
    return refusal_of(approval, made);
  }
  if (event.votes.empty()) return Done{};
  BELAY_TRY(ApprovalReply reply, reply_of(approval));
  event.votes.insert(event.votes.begin(), reply.votes.begin(), reply.votes.end());
  const ApprovalVote* earlier = engine::earlier_vote(event);
  if (!earlier || earlier->choice == event.choice) return Done{};
  made.kind = DecisionResult::Kind::conflict;
  return refusal_of(approval, made);
}

Result<Done> check_answer(const ResumeAnswer& answer, const Value& agent,
                          const std::vector<std::string>& roles, Instant now) {
  engine::Decided event = first_decision(answer.approval, answer.decision);
  auto valid = engine::check_decision(event, roles);
  if (valid.ok()) valid = engine::resolve_choice(event);
  if (valid.ok()) valid = check_forms(answer, agent);
  if (!valid.ok()) return about_interrupt(answer.approval, valid.error());
  if (is_open(answer.approval)) return check_standing(answer, std::move(event), now);
  return Done{};
}

}  // namespace

bool is_open(const ApprovalRow& approval) { return approval.status == ApprovalStatus::open; }

bool decides_nothing(const ResumeAnswer& answer) {
  ApprovalStatus status = answer.approval.status;
  bool is_approved = status == ApprovalStatus::approved;
  return !is_open(answer.approval) && !is_approved && answer.entry.is_cancelled;
}

bool is_refused(const ResumeAnswer& answer, const DecisionResult& made) {
  if (is_made(made)) return false;
  bool is_rejected = made.approval.status == ApprovalStatus::rejected;
  bool is_conflict = made.kind == DecisionResult::Kind::conflict && !is_rejected;
  return is_conflict || !answer.entry.is_cancelled;
}

Error refusal_of(const ApprovalRow& approval, const DecisionResult& answer) {
  return error(ErrorCode::conflict, "Interrupt " + in_quotes(approval.interrupt.text()) + ": " +
                                        refusal_text(answer) + ".");
}

Result<Done> check_answers(const ResumeAnswers& answers, const Value& agent,
                           const std::vector<std::string>& roles, Instant now) {
  for (const ResumeAnswer& answer : answers) {
    if (decides_nothing(answer)) continue;
    BELAY_CHECK(check_answer(answer, agent, roles, now));
  }
  return Done{};
}

void order_answers(ResumeAnswers& answers) {
  ResumeAnswers ordered, others;
  for (ResumeAnswer& answer : answers) {
    bool is_checked_by_code =
        answer.decision.edited.has_value() || !answer.decision.answer.is_null();
    (is_checked_by_code ? ordered : others).push_back(std::move(answer));
  }
  std::move(others.begin(), others.end(), std::back_inserter(ordered));
  answers = std::move(ordered);
}

}  // namespace belay::ag_ui
