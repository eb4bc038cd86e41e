#include "agents/wellbeing/agent.h"

#include <functional>
#include <vector>

namespace belay::wellbeing {
namespace {

// Returns the error for a decision that was not accepted: expired, closed, or different.
Error refused(const DecisionResult& answer) {
  const ApprovalRow& approval = answer.approval;
  std::string what;
  if (answer.kind == DecisionResult::Kind::expired) {
    what = "The approval expired at " + to_text(approval.expires_at) + "; nothing was saved.";
  } else if (answer.kind == DecisionResult::Kind::closed) {
    what = "The thread no longer waits for a decision: it is " +
           std::string(name_of(answer.view.row.status)) + ".";
  } else {
    what = "The thread has been " + std::string(name_of(approval.status)) + " before, by " +
           approval.decided_by + ", at " + to_text(approval.decided_at) + ".";
  }
  return error(ErrorCode::conflict, std::move(what));
}

Error nothing_to_decide(const RunView& view) {
  return error(ErrorCode::conflict, "The thread does not wait for a decision: it is " +
                                        std::string(name_of(view.row.status)) + ", at " +
                                        view.row.node + ".");
}

}  // namespace

BaseAgentState base_state(const RunView& view) {
  BaseAgentState base;
  base.threadId = view.row.thread.text;
  base.status = name_of(view.row.status);
  base.currentNode = view.row.node;
  if (!view.row.error.empty()) base.error = view.row.error;
  base.retryCount = view.row.retry_count;
  base.createdAt = view.row.created_at;
  base.updatedAt = view.row.updated_at;
  return base;
}

Value state_json(const RunView& view) {
  Value::Object members;
  if (const Value::Object* state = view.state.as_object()) members = *state;
  const BaseAgentState base = base_state(view);
  members["threadId"] = base.threadId;
  members["status"] = base.status;
  members["currentNode"] = base.currentNode;
  if (base.error) members["error"] = *base.error;
  members["retryCount"] = base.retryCount;
  members["createdAt"] = to_text(base.createdAt);
  members["updatedAt"] = to_text(base.updatedAt);
  return members;
}

Value result_json(const RunView& view) {
  Value::Object members{{"success", view.success()},
                        {"state", state_json(view)},
                        {"threadId", view.row.thread.text},
                        {"status", name_of(view.row.status)}};
  if (!view.row.outcome.empty()) members["outcome"] = view.row.outcome;
  if (!view.row.error.empty()) members["error"] = view.row.error;
  return members;
}

Result<StartOptions> start_options(const AgentParts& parts, const GraphConfig& config) {
  if (!config.checkpointId.empty()) {
    return error(ErrorCode::invalid,
                 "A run cannot be resumed from a selected checkpoint. Omit checkpointId to resume "
                 "the thread from its newest one.");
  }
  StartOptions options;
  options.tenant = parts.tenant;
  options.user = parts.user;
  options.thread = ThreadId(config.threadId);
  if (!config.threadId.empty()) BELAY_CHECK(check_name("threadId", config.threadId));
  options.run.max_retries = config.maxRetries;
  options.run.require_approval = config.requiresHumanApproval;
  options.run.timeout = config.timeout;
  return options;
}

Error told(Error failure) {
  if (failure.code == ErrorCode::not_found) failure.message = kThreadNotFound;
  return failure;
}

Result<RunView> run_of(Result<RunView> view, const std::string& graph) {
  if (view.ok() && view->row.graph != graph) {
    return error(ErrorCode::not_found, std::string(kThreadNotFound));
  }
  return view;
}

Task<Result<RunView>> resume_run(AgentParts parts, std::string graph, std::string thread,
                                 ResumeInput input) {
  if (!input.approved) {
    co_return error(ErrorCode::invalid,
                    "Missing decision: approved must be true or false. Nothing was changed.");
  }
  ThreadId id(std::move(thread));
  auto found = co_await parts.runtime.status(parts.tenant, std::move(id));
  auto view = run_of(std::move(found), graph);
  if (!view.ok()) co_return std::move(view).error();
  ApprovalFilter filter;
  filter.tenant = parts.tenant;
  filter.run = view->row.run;
  filter.limit = 1;
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [filter](Snapshot& snapshot) {
    return snapshot.approvals(filter);
  };
  auto approvals = co_await belay::read(parts.store, std::move(reader));
  if (!approvals.ok()) co_return std::move(approvals).error();
  if (approvals->empty()) co_return nothing_to_decide(*view);
  Decision decision;
  decision.approved = *input.approved;
  decision.decided_by = std::move(input.decidedBy);
  decision.comment = std::move(input.comment);
  decision.edited = std::move(input.edited);
  InterruptId interrupt = approvals->front().interrupt;
  auto answer = co_await parts.runtime.decide(parts.tenant, interrupt, std::move(decision));
  if (!answer.ok()) co_return std::move(answer).error();
  const bool stands = answer->kind == DecisionResult::Kind::accepted ||
                      answer->kind == DecisionResult::Kind::duplicate;
  if (!stands) co_return refused(*answer);
  const RunStatus status = answer->view.row.status;
  if (status == RunStatus::paused || is_final(status)) co_return std::move(answer->view);
  // The same decision was recorded before, but the process that recorded it might have died before
  // the end of the run: claim the run if it is orphaned.
  ThreadId left = answer->view.row.thread;
  auto taken_over = co_await parts.runtime.resume(parts.tenant, std::move(left));
  if (taken_over.ok() || taken_over.error().code != ErrorCode::conflict) co_return taken_over;
  co_return std::move(answer->view);  // `conflict`: a live process owns the run
}

}  // namespace belay::wellbeing
