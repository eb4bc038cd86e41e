#pragma once
// runtime/decisions.h - records decisions on approvals, and continues their runs.
//
// Threading: the executor's thread.

#include "worker/run_executor.h"

namespace belay {

class Decisions {
 public:
  // `executor` must outlive it.
  explicit Decisions(RunExecutor& executor)
      : executor_(executor), loader_(executor.loader()), parts_(executor.parts()) {}

  // See Runtime.
  Task<Result<DecisionResult>> decide(TenantId tenant, InterruptId interrupt, Decision decision);

 private:
  // An approval, and its run if that can be read.
  struct AskedRun {
    ApprovalRow approval;
    Result<LoadedRun> run;
  };
  // The state of an open approval and its run when they were read.
  struct Standing {
    RunStatus status = RunStatus::queued;
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    Instant decided_at{};  // of the latest vote: a vote changes only the approval
    friend bool operator==(const Standing&, const Standing&) = default;
  };
  Task<Result<AskedRun>> find_asked(TenantId tenant, InterruptId interrupt,
                                    std::optional<UserId> only_of);
  engine::Decided decided_as(ApprovalRow approval, const Decision& decision);
  Task<Result<std::optional<DecisionResult>>> try_to_decide(LoadedRun found, engine::Decided event,
                                                            Standing& standing);
  Result<DecisionResult> answer_decided(LoadedRun found, const engine::Decided& event);
  // Returns the error for a decision that failed with `why`; quarantines a damaged run.
  Task<Error> refuse_damaged(TenantId tenant, InterruptId interrupt, Error why);

  RunExecutor& executor_;
  RunLoader& loader_;
  RuntimeParts& parts_;
};

}  // namespace belay
