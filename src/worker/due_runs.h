#pragma once
// worker/due_runs.h - expires overdue approvals, and continues paused runs whose timers are due.
//
// Threading: the executor's thread.

#include <vector>

#include "worker/run_executor.h"

namespace belay {

class DueRuns {
 public:
  // `executor` must outlive it.
  explicit DueRuns(RunExecutor& executor)
      : executor_(executor), loader_(executor.loader()), parts_(executor.parts()) {}

  Task<Result<DueReport>> process_due(TenantId tenant);
  // Continues a paused run that is due: its overdue approvals expire, or its timer has elapsed.
  Task<Result<Done>> continue_due(LoadedRun found);

 private:
  Task<Result<std::vector<ApprovalRow>>> find_due(ApprovalFilter due);
  Task<Result<bool>> commit_expiry(Commit commit);
  Task<Result<bool>> expire(ApprovalRow approval);
  Task<Result<bool>> expire_of_active_run(ApprovalRow approval);
  Task<Result<bool>> expire_into_queue(ApprovalRow approval);
  Task<Result<std::size_t>> expire_together(std::vector<ApprovalRow> approvals);
  Task<Result<std::size_t>> expire_due(TenantId tenant);
  Task<Result<std::size_t>> wake_due(TenantId tenant);
  Task<Result<bool>> wake_run(TenantId tenant, RunId run);

  RunExecutor& executor_;
  RunLoader& loader_;
  RuntimeParts& parts_;
};

}  // namespace belay
