#pragma once
// engine/decision.h - converts decisions between the engine's event and the row of the approval.

#include "engine/event.h"

namespace belay::engine {

std::string_view name_of(Decided::Verdict verdict);

// Returns the id of an interrupt that a task raises within its node.
InterruptId interrupt_of(const TaskId& task, const std::string& question_key);

// True if a decision or the expiry was recorded: approved, rejected or expired.
bool is_decided(ApprovalStatus status);

// Determines the verdict, the choice and the votes of a decision from the terms of its approval.
// `invalid` for a choice that the approval does not offer, and for an answer or an edited payload
// that it does not take.
Result<Done> resolve_choice(Decided& event);
// The earlier vote of the same person; null: none. REQUIRES: resolve_choice() has succeeded.
const ApprovalVote* earlier_vote(const Decided& event);
// True if the approval stays open after this decision, because it needs more of them.
bool is_vote(const Decided& event);
// The decision for the node that follows.
ApprovalDecision decision_for_node(const Decided& event, std::string choice, bool approved);

// The choice of a decided approval; of an expired one the choice that was made at its expiry.
std::string recorded_choice(const ApprovalRow& approval);

// Checks the decider, the comment and the roles of a decision, before its run is read. `invalid`,
// or `forbidden` if the decider has none of the approval's roles.
Result<Done> check_decision(const Decided& event, const std::vector<std::string>& roles);
// True if a decider with these roles may decide the approval.
bool holds_a_role(const ApprovalRow& approval, const std::vector<std::string>& roles);

// True if a subgraph, at any depth, has an approval node of this name.
bool has_approval_inside(const GraphDefinition& graph, const std::string& name);

// `corrupt` if the payload of the approval does not match its payload_hash, or the message of its
// expiry is damaged.
Result<Done> check_shown(const ApprovalRow& approval);

// True for the approval of an approval node; false for an interrupt raised within a node.
bool is_of_approval_node(const ApprovalRow& approval);
// True if the approval asks whether an effect has happened: such a decision does not approve state.
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

// Returns the approval's row with the decision of the event.
ApprovalRow decided_row(Decided event);

// Returns the event of a stored decision, for the session that applies it. `corrupt` if the edited
// payload cannot be read. REQUIRES: is_decided(row.status).
Result<Decided> stored_decision(ApprovalRow row, const Moment& moment, const SessionId& session);

}  // namespace belay::engine
