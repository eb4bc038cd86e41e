#include "engine/decision.h"

#include <algorithm>

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
  if (event.verdict == Verdict::rejected && event.edited) {
    return error(ErrorCode::invalid, "A rejection accepts no edited payload. Approve it instead.");
  }
  if (!holds_a_role(event.approval, roles)) {
    return error(ErrorCode::forbidden,
                 "User \"" + event.decided_by +
                     "\" cannot decide this approval. Required role: one of " +
                     event.approval.roles + ".");
  }
  return Done{};
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
    BELAY_CHECK(expiry_message_of(approval));
    return Done{};
  }
  return error(ErrorCode::corrupt,
               "The payload of approval " + approval.interrupt.text() +
                   " does not match its hash. Run `belay check` and restore a backup.");
}

ApprovalRow decided_row(Decided event) {
  ApprovalRow row = std::move(event.approval);
  row.status = event.verdict == Verdict::approved   ? ApprovalStatus::approved
               : event.verdict == Verdict::rejected ? ApprovalStatus::rejected
                                                    : ApprovalStatus::expired;
  row.decided_by = std::move(event.decided_by);
  row.on_behalf_of = std::move(event.on_behalf_of);
  row.comment = std::move(event.comment);
  row.decided_at = event.moment.now;
  if (event.edited) {
    std::string edited = to_json(*event.edited);
    row.edited_hash = sha256(edited);
    row.edited = json_envelope(edited);
  }
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
  if (!row.edited.empty()) {
    BELAY_TRY(std::string_view text, json_in_envelope(row.edited));
    BELAY_TRY(event.edited, parse_json(text));
  }
  event.approval = std::move(row);
  return event;
}

}  // namespace belay::engine
