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

// Whether who has these roles may decide the approval.
bool holds_a_role(const ApprovalRow& approval, const std::vector<std::string>& roles);

// Whether a subgraph, at any depth, has an approval node of this name.
bool has_approval_inside(const GraphDefinition& graph, const std::string& name);

// `corrupt` where the approval's payload is not the one whose hash it has.
Result<Done> check_shown(const ApprovalRow& approval);

// Whether an approval node asks it; else it is a question in the middle of a node.
bool is_of_approval_node(const ApprovalRow& approval);
// Whether it asks only if an effect has happened: answering that lets no state pass.
bool is_about_effect(const ApprovalRow& approval);

// When an approval was asked, by two commits of its run, each null where it is not there: `before`,
// the one before ApprovalRow::seq, and `at`, that of it.
struct AskedAt {
  std::optional<std::int64_t> superstep;  // the one under way then
  // The commit after which a fork asks it anew. The pause of an approval that is alone follows it;
  // but with Durability::exit the pause also holds the supersteps before it, so it is the pause.
  std::optional<std::uint64_t> begin;
};
AskedAt asked_at(const ApprovalRow& approval, const CheckpointRow* before, const CheckpointRow* at);

// The approval with the event's decision.
ApprovalRow decided_row(Decided event);

// The event of a stored decision, for the session that makes use of it. `corrupt` when its edited
// payload can't be read. REQUIRES: is_decided(row.status).
Result<Decided> stored_decision(ApprovalRow row, const Moment& moment, const SessionId& session);

}  // namespace belay::engine
