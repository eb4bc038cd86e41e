#pragma once
// worker/worker.h - executes queued runs, orphaned runs and due timers until it is drained.
//
// Threading: the executor's thread.

#include <map>
#include <optional>
#include <vector>

#include "worker/due_runs.h"
#include "worker/run_executor.h"
#include "worker/store_backoff.h"
#include "worker/work_signal.h"

namespace belay {

class Worker {
 public:
  // Both must outlive it.
  Worker(RunExecutor& executor, DueRuns& due_runs)
      : executor_(executor),
        due_runs_(due_runs),
        loader_(executor.loader()),
        outbox_(executor.outbox()),
        parts_(executor.parts()) {}

  // See Runtime.
  Task<Result<std::size_t>> run(WorkerOptions options);
  void drain();
  void stop();

 private:
  struct Work {
    RunRow row;
    RunAdmission::Permit place;
  };
  Task<Result<Done>> execute_candidate(TenantId tenant, RunId run, RunAdmission::Permit place);
  Task<Result<Done>> take_up_sound(TenantId tenant, RunId run);
  void forget_work();
  Error give_up_work();
  void retry_later(TenantId tenant, RunId run, const Error& why, const WorkerOptions& options);
  void hurry_if_idle();
  // find_work.cc
  Task<Result<std::vector<Work>>> poll_work(WorkerOptions options, std::size_t limit);
  Task<Result<std::vector<RunRow>>> find_orphaned(WorkerOptions options, std::vector<RunId> except);
  // Sets tenants_ to all tenants of the store, unless the worker has a tenant.
  Task<Result<Done>> learn_tenants(WorkerOptions options);
  std::vector<RunId> not_to_be_offered();
  Task<Result<Done>> pass_over_other_versions(const WorkerOptions& options);

  RunExecutor& executor_;
  DueRuns& due_runs_;
  RunLoader& loader_;
  OutboxDelivery& outbox_;
  RuntimeParts& parts_;
  WorkSignal* work_call_ = nullptr;  // of run(), while it runs
  std::size_t taken_up_ = 0;         // runs that were claimed and that are in progress
  std::vector<TenantId> tenants_;    // that run() serves
  Instant tenants_as_of_{};
  std::uint64_t offered_ = 0;            // candidates so far: the round-robin position
  std::map<RunId, Instant> not_before_;  // runs that could not be executed: when to try again
  StoreBackoff store_rest_;              // the same for runs for which the store failed
  // Candidates that could not be executed: the next poll returns them, so that the store can offer
  // them to other processes immediately.
  std::vector<std::pair<TenantId, RunId>> gives_back_;
  Instant meets_other_versions_until_{};
  std::map<RunId, Spawned> work_;  // last: its coroutines use all members above
};

}  // namespace belay
