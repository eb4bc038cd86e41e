#pragma once
// runtime/decision_event.h - converts a decision to the event of the engine.

#include "belay/runtime.h"
#include "engine/event.h"

namespace belay {

// Sets the verdict and all else that the decision determines.
void take_decision(engine::Decided& event, const Decision& decision);

// Returns the decision as if it was the first one about its approval, for the checks that precede
// it.
engine::Decided first_decision(ApprovalRow approval, const Decision& decision);

}  // namespace belay
