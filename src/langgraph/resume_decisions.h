#pragma once
// langgraph/resume_decisions.h - the decisions of a resume, and the record of its run.
//
// The record is saved before the first decision. Until all of them are made, it is partial: the
// same request, sent again with its key, makes those that are missing. One that was made is found.
//
// Threading: on the executor that awaits.

#include "langgraph/wanted_run.h"

namespace belay::langgraph {

// The error of a resume that nothing waits for.
Error no_interrupt();
// A run of the protocol that continues a run of the service.
RunRecord continuing_record(AgentServer& served, const WantedRun& wanted, const RunRow& row);
// Saves the record; returns the first one, if the same request has saved it.
Task<Result<RunRecord>> saved_record(const server::Call& call, RunRecord record, UserId user);
// Erases the record of a run that was refused. After other errors, it might exist.
Task<Done> withdraw_record(const server::Call& call, const RunRecord& record, UserId user,
                           Error failed);

// Checks the permission, and that the request is a resume of a thread with a run.
Result<Done> check_decider(const server::Call& call, const WantedRun& wanted);
// Checks all decisions as if none was made: an error leaves everything unchanged. `rows`: their
// approvals, and others.
Result<Done> check_decisions(const server::Call& call, const std::vector<PlannedDecision>& planned,
                             const std::vector<ApprovalRow>& rows);
Task<Result<std::vector<ApprovalRow>>> approvals_named(const server::Call& call,
                                                       std::vector<std::string> ids);

// Saves the record, unless the same request has saved it before, and makes the decisions in their
// order. The record is withdrawn if the first one is refused. `run`, `rows`: as they
// were read before.
Task<Result<RunRecord>> decide_with_record(AgentServer& served, server::Call& call,
                                           const WantedRun& wanted, RunRecord record,
                                           const RunRow& run, std::vector<PlannedDecision> planned,
                                           const std::vector<ApprovalRow>& rows);

}  // namespace belay::langgraph
