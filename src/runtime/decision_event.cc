#include "runtime/decision_event.h"

namespace belay {

void take_decision(engine::Decided& event, const Decision& decision) {
  using Verdict = engine::Decided::Verdict;
  event.verdict = decision.approved ? Verdict::approved : Verdict::rejected;
  event.decided_by = decision.decided_by;
  event.on_behalf_of = decision.on_behalf_of;
  event.comment = decision.comment;
  event.edited = decision.edited;
  event.choice = decision.choice;
  event.answer = decision.answer;
}

engine::Decided first_decision(ApprovalRow approval, const Decision& decision) {
  engine::Decided event;
  event.approval = std::move(approval);
  event.approval.status = ApprovalStatus::open;
  event.approval.edited.clear();
  event.moment.now = event.approval.created_at;
  take_decision(event, decision);
  return event;
}

}  // namespace belay
