#include "engine/decision.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "belay/limits.h"
#include "engine/expiry_message.h"
#include "graph/question.h"

namespace belay::engine {

using Verdict = Decided::Verdict;

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::approved:
      return "approved";
    case Verdict::rejected:
      return "rejected";
    case Verdict::expired:
      return "expired";
  }
  return "expired";
}

InterruptId interrupt_of(const TaskId& task, const std::string& question_key) {
  return InterruptId(derived_uuid(task.text() + question_key));
}

bool is_decided(ApprovalStatus status) {
  return status != ApprovalStatus::open && status != ApprovalStatus::closed;
}

Result<Done> check_decision(const Decided& event, const std::vector<std::string>& roles) {
  BELAY_CHECK(check_name("decider name", event.decided_by));
  if (!event.on_behalf_of.empty()) {
    BELAY_CHECK(check_name("\"on behalf of\" name", event.on_behalf_of));
  }
  if (event.comment.size() > limits::comment_bytes_max) {
    return error(ErrorCode::invalid, "The comment is longer than " +
                                         std::to_string(limits::comment_bytes_max) + " bytes.");
  }
  if (first_invalid_utf8(event.comment)) {
    return error(ErrorCode::invalid, "The comment is not valid UTF-8.");
  }
  if (!holds_a_role(event.approval, roles)) {
    return error(ErrorCode::forbidden,
                 "User \"" + event.decided_by +
                     "\" cannot decide this approval. Required role: one of " +
                     event.approval.roles + ".");
  }
  return Done{};
}

namespace {

std::string listed_choices(const ApprovalTerms& terms) {
  std::string list;
  for (std::size_t i = 0; i < terms.choices.size(); ++i) {
    if (i > 0) list += i + 1 == terms.choices.size() ? " or " : ", ";
    list += in_quotes(terms.choices[i].name);
  }
  return list;
}

// The first member that the schema requires and the answer does not have.
std::optional<std::string> missing_member(const Value& schema, const Value& answer) {
  const Value::Array* required = schema["required"].as_array();
  if (!required) return std::nullopt;
  for (const Value& name : *required) {
    if (name.as_string() && !answer.find(*name.as_string())) return *name.as_string();
  }
  return std::nullopt;
}

Result<Done> check_answer(const ApprovalTerms& terms, bool approves, const Value& answer) {
  bool takes_one = !terms.answer_schema.is_null();
  if (answer.is_null()) {
    if (!takes_one || !approves) return Done{};
    return error(ErrorCode::invalid, "This approval needs an answer. Nothing was decided.");
  }
  if (!takes_one) return error(ErrorCode::invalid, "This approval takes no answer.");
  if (!answer.as_object()) {
    return error(ErrorCode::invalid, "The answer does not fit: it should be an object, but is a " +
                                         std::string(answer.kind()) + ".");
  }
  if (auto missing = missing_member(terms.answer_schema, answer)) {
    return error(ErrorCode::invalid, "The answer does not fit: it has no " + in_quotes(*missing) +
                                         ". Nothing was decided.");
  }
  return Done{};
}

// The earlier votes on an approval. `corrupt` if they do not match their hash.
Result<std::vector<ApprovalVote>> votes_on(const ApprovalRow& approval) {
  if (approval.edited.empty()) return std::vector<ApprovalVote>();
  BELAY_TRY(std::string_view text, json_in_envelope(approval.edited));
  if (sha256(text) != approval.edited_hash) {
    return error(ErrorCode::corrupt,
                 "The votes on approval " + approval.interrupt.text() +
                     " do not match their hash. Run `belay check` and restore a backup.");
  }
  BELAY_TRY(ApprovalReply reply, reply_of(approval));
  return std::move(reply.votes);
}

}  // namespace

Result<Done> resolve_choice(Decided& event) {
  BELAY_TRY(ApprovalTerms terms, terms_of(event.approval));
  if (event.choice.empty()) {
    event.choice = event.verdict == Verdict::approved ? "approve" : "reject";
  }
  const ApprovalChoice* chosen = terms.find(event.choice);
  if (!chosen) {
    return error(ErrorCode::invalid, "This approval offers no choice " + in_quotes(event.choice) +
                                         ". Choose " + listed_choices(terms) +
                                         ". Nothing was decided.");
  }
  event.verdict = chosen->approves ? Verdict::approved : Verdict::rejected;
  if (event.edited && !chosen->approves) {
    return error(ErrorCode::invalid, "A rejection accepts no edited payload. Approve it instead.");
  }
  BELAY_CHECK(check_answer(terms, chosen->approves, event.answer));
  if (terms.needs == 1) return Done{};
  if (event.edited) {
    return error(ErrorCode::invalid, "This approval needs " + std::to_string(terms.needs) +
                                         " decisions on the same payload: it cannot be edited.");
  }
  BELAY_TRY(event.votes, votes_on(event.approval));
  // Each vote has a later time than the one before it: ApprovalGuard::decided_at depends on that.
  if (!is_decided(event.approval.status)) {
    auto next = event.approval.decided_at + std::chrono::microseconds(1);
    event.moment.now = std::max(event.moment.now, next);
  }
  event.votes.push_back(
      {event.decided_by, event.on_behalf_of, event.choice, event.comment, event.moment.now});
  return Done{};
}

const ApprovalVote* earlier_vote(const Decided& event) {
  // A name is in one vote only, as the decider or as the one that another decides for. Otherwise a
  // person could vote again through another key, or a key could vote for several persons.
  auto takes_part = [&event](const std::string& name) {
    return !name.empty() && (name == event.decided_by || name == event.on_behalf_of);
  };
  for (std::size_t i = 0; i + 1 < event.votes.size(); ++i) {
    const ApprovalVote& vote = event.votes[i];
    if (takes_part(vote.decided_by) || takes_part(vote.on_behalf_of)) return &vote;
  }
  return nullptr;
}

bool is_vote(const Decided& event) {
  if (event.is_stored || event.verdict != Verdict::approved || event.votes.empty()) return false;
  auto terms = terms_of(event.approval);
  auto same = std::count_if(event.votes.begin(), event.votes.end(),
                            [&](const ApprovalVote& vote) { return vote.choice == event.choice; });
  return terms.ok() && same < terms->needs;
}

std::string recorded_choice(const ApprovalRow& approval) {
  if (approval.status != ApprovalStatus::expired) return choice_of(approval);
  auto terms = terms_of(approval);
  return terms.ok() ? terms->when_expired : std::string();
}

ApprovalDecision decision_for_node(const Decided& event, std::string choice, bool approved) {
  ApprovalDecision decision;
  decision.approval = event.approval.node;
  decision.choice = std::move(choice);
  decision.approved = approved;
  decision.expired = event.verdict == Verdict::expired;
  decision.decided_by = event.decided_by;
  decision.on_behalf_of = event.on_behalf_of;
  decision.comment = event.comment;
  if (event.verdict == Verdict::approved) decision.edited = event.edited;
  decision.answer = event.answer;
  decision.votes = event.votes;
  // The same time whether the decision is applied now, later, or again.
  bool is_recorded = is_decided(event.approval.status);
  decision.at = is_recorded ? event.approval.decided_at : event.moment.now;
  return decision;
}

bool holds_a_role(const ApprovalRow& approval, const std::vector<std::string>& roles) {
  if (approval.roles.empty()) return true;
  std::string permitted = "," + approval.roles + ",";
  return std::any_of(roles.begin(), roles.end(), [&](const std::string& role) {
    return permitted.find("," + role + ",") != std::string::npos;
  });
}

bool has_approval_inside(const GraphDefinition& graph, const std::string& name) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    if (!node.subgraph) return false;
    const GraphDefinition& inner = *node.subgraph->graph;
    const GraphDefinition::Node* found = inner.find(name);
    return (found && found->approval) || has_approval_inside(inner, name);
  });
}

bool is_of_approval_node(const ApprovalRow& approval) {
  return approval.interrupt == interrupt_of(approval.task, "approval");
}

bool is_about_effect(const ApprovalRow& approval) {
  auto text = json_in_envelope(approval.payload);
  auto payload = text.ok() ? parse_json(*text) : Result<Value>(text.error());
  const std::string* effect = payload.ok() ? (*payload)["effect"].as_string() : nullptr;
  if (!effect) return false;
  return approval.interrupt ==
         interrupt_of(approval.task, question_key("effect " + *effect, *text));
}

AskedAt asked_at(const ApprovalRow& approval, const CheckpointRow* before,
                 const CheckpointRow* at) {
  AskedAt asked;
  if (at && at->kind == CommitKind::pause) {
    asked.superstep = at->superstep;
    bool follows = before && before->superstep == at->superstep;
    asked.begin = follows ? approval.seq - 1 : approval.seq;
  } else if (before) {
    asked.superstep = before->superstep;
    asked.begin = approval.seq - 1;
  }
  return asked;
}

Result<Done> check_shown(const ApprovalRow& approval) {
  auto shown = json_in_envelope(approval.payload);
  if (shown.ok() && sha256(*shown) == approval.payload_hash) {
    BELAY_CHECK(terms_of(approval));
    return Done{};
  }
  return error(ErrorCode::corrupt,
               "The payload of approval " + approval.interrupt.text() +
                   " does not match its hash. Run `belay check` and restore a backup.");
}

ApprovalRow decided_row(Decided event) {
  bool stays_open = is_vote(event);
  ApprovalRow row = std::move(event.approval);
  row.status = event.verdict == Verdict::approved   ? ApprovalStatus::approved
               : event.verdict == Verdict::rejected ? ApprovalStatus::rejected
                                                    : ApprovalStatus::expired;
  row.decided_by = std::move(event.decided_by);
  row.on_behalf_of = std::move(event.on_behalf_of);
  row.comment = std::move(event.comment);
  row.decided_at = event.moment.now;
  // An expiry leaves the votes before it.
  if (event.verdict == Verdict::expired) return row;
  std::string_view plain = event.verdict == Verdict::approved ? "approve" : "reject";
  ApprovalReply reply;
  if (!event.choice.empty() && event.choice != plain && !stays_open)
    reply.choice = std::move(event.choice);
  reply.edited = std::move(event.edited);
  reply.answer = stays_open ? Value() : std::move(event.answer);
  reply.votes = std::move(event.votes);
  row.edited = detail::reply_envelope(reply);
  row.edited_hash = row.edited.empty() ? Digest{} : sha256(detail::reply_text(reply));
  if (!stays_open) return row;
  row.status = ApprovalStatus::open;
  row.decided_by.clear();
  row.on_behalf_of.clear();
  row.comment.clear();
  return row;
}

Result<Decided> stored_decision(ApprovalRow row, const Moment& moment, const SessionId& session) {
  Decided event;
  event.moment = moment;
  event.session = session;
  event.verdict = row.status == ApprovalStatus::approved   ? Verdict::approved
                  : row.status == ApprovalStatus::rejected ? Verdict::rejected
                                                           : Verdict::expired;
  event.decided_by = row.decided_by;
  event.on_behalf_of = row.on_behalf_of;
  event.comment = row.comment;
  event.is_stored = true;
  if (event.verdict != Verdict::expired) {
    BELAY_TRY(ApprovalReply reply, reply_of(row));
    event.choice = choice_of(row);
    event.edited = std::move(reply.edited);
    event.answer = std::move(reply.answer);
    event.votes = std::move(reply.votes);
  }
  event.approval = std::move(row);
  return event;
}

}  // namespace belay::engine
