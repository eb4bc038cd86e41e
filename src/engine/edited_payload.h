#pragma once
// engine/edited_payload.h - checks the payloads that deciders edited, and compares decisions.

#include "engine/event.h"

namespace belay::engine {

// Checks the payload that was shown (`corrupt` if it does not match its hash), and the edited one
// (`invalid` if it does not fit its channel or is too long, or an error of the approval's own
// validate()). Re-encodes the edited payload with the type of its channel, so that equal edits have
// equal hashes; removes it from the event if it equals the payload that was shown.
Result<Done> check_shown_and_edit(const Run& run, const GraphDefinition& graph, Decided& event);

// True if the recorded decision has the choice, edited payload and answer of `event`.
// Comment and decider do not count. `graph`: null if it is not known; the edited payload is then
// compared as it is given. `invalid` if the edited payload does not fit.
Result<bool> is_same_decision(const GraphDefinition* graph, const ApprovalRow& recorded,
                              const Decided& event);

}  // namespace belay::engine
