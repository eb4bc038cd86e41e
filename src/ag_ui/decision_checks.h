#pragma once
// ag_ui/decision_checks.h - the decisions of a resume, and their checks before the first one is
// made.
//
// Threading: pure.

#include <string>
#include <vector>

#include "ag_ui/run_input.h"
#include "belay/service.h"

namespace belay::ag_ui {

struct ResumeAnswer {
  ResumeEntry entry;
  ApprovalRow approval;  // as it was read before the first decision
  Decision decision;
};
using ResumeAnswers = std::vector<ResumeAnswer>;

bool is_open(const ApprovalRow& approval);
// True if nothing is decided: a cancelled entry about an approval that has expired, or that was
// closed or rejected meanwhile.
bool decides_nothing(const ResumeAnswer& answer);
// True if the decision of an entry was not made, unless it cancels what has ended in this way.
bool is_refused(const ResumeAnswer& answer, const DecisionResult& made);
// The error of a decision that was not made.
Error refusal_of(const ApprovalRow& approval, const DecisionResult& answer);

// Checks each decision as if it was the first one about its approval: an error leaves all approvals
// unchanged. `agent`: its document of Service::agents(). `invalid` for a comment, a choice, an
// answer or an edit that the approval does not accept; `forbidden` without a role that it requires;
// `conflict` after its expiry, and for a vote that differs from an earlier one of the same person.
// Not checked: the approval's own validate() function, of which only a decision has the result.
Result<Done> check_answers(const ResumeAnswers& answers, const Value& agent,
                           const std::vector<std::string>& roles, Instant now);

// Moves the decisions that can be refused in spite of the checks to the front: nothing is decided
// yet when the first one is refused.
void order_answers(ResumeAnswers& answers);

}  // namespace belay::ag_ui
