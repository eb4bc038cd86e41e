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

// True if a holder of these roles may decide the approval.
bool holds_a_role(const ApprovalRow& approval, const std::vector<std::string>& roles);

// True if a subgraph, at any depth, has an approval node of this name.
bool has_approval_inside(const GraphDefinition& graph, const std::string& name);

// `corrupt` where the approval's payload is not the one whose hash it has.
Result<Done> check_shown(const ApprovalRow& approval);

// True for the approval of an approval node; false for an interrupt raised within a node.
bool is_of_approval_node(const ApprovalRow& approval);
// True if it only asks whether an effect has happened: its decision approves no state.
bool is_about_effect(const ApprovalRow& approval);

// When an approval was requested, from two commits of its run, each null if it is not stored:
// `before`, the commit before ApprovalRow::seq, and `at`, the commit ApprovalRow::seq.
struct AskedAt {
  std::optional<std::int64_t> superstep;  // the one in progress at that time
  // The commit after which a fork requests it again: the commit before the pause of a lone
  // approval; with Durability::exit, the pause itself, because it also contains earlier supersteps.
  std::optional<std::uint64_t> begin;
};
AskedAt asked_at(const ApprovalRow& approval, const CheckpointRow* before, const CheckpointRow* at);

// The approval with the event's decision.
ApprovalRow decided_row(Decided event);

// The event of a stored decision, for the session that makes use of it. `corrupt` when its edited
// payload can't be read. REQUIRES: is_decided(row.status).
Result<Decided> stored_decision(ApprovalRow row, const Moment& moment, const SessionId& session);

}  // namespace belay::engine
