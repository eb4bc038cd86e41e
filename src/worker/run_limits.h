#pragma once
// worker/run_limits.h - the limits of queued and of running runs that this process observes.
//
// Threading: the executor's thread.

#include <map>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "worker/entering_runs.h"

namespace belay {

class RunLimits {
 public:
  // `parts` must outlive it.
  explicit RunLimits(RuntimeParts& parts) : parts_(parts) {}

  // Returns the concurrency limits that apply to a commit that makes the run running. `by_person`:
  // requested by a call, not by a worker.
  Task<Result<std::vector<ConcurrencyGuard>>> guards_of(RunRow row, bool by_person);
  // Returns the error for the first guard whose limit is reached.
  Task<Error> limit_reached(RunRow row, std::vector<ConcurrencyGuard> guards);
  // True for an error of a reached limit: it has the time of the next try.
  static bool is_limit(const Error& why) {
    return why.code == ErrorCode::unavailable && why.retry_after;
  }

  // `unavailable` if the tenant has too many queued runs, including those that this process is
  // enqueuing.
  Task<Result<Done>> check_queue(TenantId tenant);
  // Commits a run into its queue, and notifies the workers.
  Task<Result<CommitOutcome>> put_into_queue(Commit commit);
  // Notifies other processes that the tenant might have claimable runs.
  void notify_workers(const TenantId& tenant);

 private:
  Task<Result<Done>> refresh_queues(TenantId tenant);

  struct KnownQueues {
    Instant as_of{};
    std::map<std::string, QueueRow> rows;
  };
  RuntimeParts& parts_;
  std::map<TenantId, KnownQueues> queues_;
  EnteringRuns entering_;  // runs that are being enqueued
};

}  // namespace belay
