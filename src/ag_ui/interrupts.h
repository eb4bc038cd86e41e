#pragma once
// ag_ui/interrupts.h - open approvals as interrupts of AG-UI, and the entries of `resume` as
// decisions.
//
// Threading: pure.

#include <set>
#include <string>

#include "ag_ui/run_input.h"
#include "belay/service.h"

namespace belay::ag_ui {

// The document `Interrupt` of an approval. `calls`: the calls of tools that the client knows; the
// approval of one of them has the reason "tool_call", any other one "confirmation". `shown`: limits
// the votes to those that were made until then, so that the document is the same for each reader.
struct ShownVotes {
  Instant before{};  // the pause
  Instant until{};   // the last vote of the segment
};
Value interrupt_of(const ApprovalRow& approval, const std::set<std::string>& calls,
                   const ShownVotes& shown);

// The decision that an entry makes. A cancelled entry rejects. `invalid` for a payload that neither
// approves nor rejects.
Result<Decision> decision_of(const ResumeEntry& entry, const ApprovalRow& approval);

}  // namespace belay::ag_ui
