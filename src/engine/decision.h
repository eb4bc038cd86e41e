#pragma once
// engine/decision.h - a decision as the engine's event and as the approval's row, one from the
// other.

#include "engine/event.h"

namespace belay::engine {

std::string_view name_of(Decided::Verdict verdict);

// The id of what a task asks in the middle of its node.
InterruptId interrupt_of(const TaskId& task, const std::string& question_key);

// Whether somebody, or the clock, has decided: neither open nor closed.
bool is_decided(ApprovalStatus status);

// `corrupt` where the approval's payload is not the one whose hash it has.
Result<Done> check_shown(const ApprovalRow& approval);

// The approval with the event's decision.
ApprovalRow decided_row(Decided event);

// The event of a stored decision, for the session that makes use of it. `corrupt` when its edited
// payload can't be read. REQUIRES: is_decided(row.status).
Result<Decided> stored_decision(ApprovalRow row, const Moment& moment, const SessionId& session);

}  // namespace belay::engine
