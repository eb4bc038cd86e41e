#pragma once
// store/postgres/commit_writer.h - applies one commit, statement by statement, in a transaction.
//
// For commits whose guards need a read before the write, and for those that a batch could not
// include (commit_batch.h). The caller begins and ends the transaction.
//
// Locks are taken in one order, as in all transactions of this store: the run, its approvals, the
// concurrency limits, the rows written. This avoids deadlocks, and a decision and a commit of the
// run's owner always wait for each other.
//
// Threading: the writer's thread only.

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

class CommitWriter {
 public:
  // The expiry of approvals is compared with `clock`; if null, with the server's clock. `now` is
  // the time of records that are saved outside of a run. `was_sent`: the same commit was sent
  // before and its reply was lost.
  CommitWriter(Connection& connection, Clock* clock, Instant now, bool was_sent)
      : connection_(connection), clock_(clock), now_(now), was_sent_(was_sent) {}

  // Evaluates the guards and writes the rows that they permit. If it returns an Error, the
  // transaction has failed or contains a part of the commit: the caller must roll it back.
  // REQUIRES: store::check_commit(commit).
  Result<CommitOutcome> apply(const Commit& commit);

 private:
  // A run's row, locked until the end of the transaction.
  struct LockedRun {
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    RunStatus status = RunStatus::queued;
  };
  // The rows to write; if null, the outcome of the commit.
  struct GuardResult {
    const CommitRows* rows = nullptr;
    CommitOutcome outcome = CommitOutcome::applied;
  };

  Result<CommitOutcome> apply_first(const Commit& commit);
  Result<CommitOutcome> apply_next(const Commit& commit, const LockedRun& standing);
  Result<CommitOutcome> apply_pending(const Commit& commit);
  Result<CommitOutcome> apply_without_run(const Commit& commit);

  Result<std::optional<LockedRun>> lock_run(const TenantId& tenant, const RunId& run);
  Result<bool> is_thread(const TenantId& tenant, const ThreadId& thread);
  // Locks the thread: of several first commits with the same guard, one is applied.
  Result<bool> thread_guard_holds(const TenantId& tenant, const ThreadGuard& guard);
  // `refused`, unless an earlier try of the same commit has applied it.
  Result<CommitOutcome> outcome_of_refused_start(const Commit& commit, CommitOutcome refused);
  // The outcome of an edit of a thread that cannot be applied; nullopt: it can, or it is absent.
  // Locks the thread.
  Result<std::optional<CommitOutcome>> outcome_of_edit(const TenantId& tenant,
                                                       const CommitRows& rows);
  Result<CommitOutcome> outcome_of_moved_run(const Commit& commit);
  Result<GuardResult> check_approval_guard(const Commit& commit);
  // The outcome of the versions that the records must have; nullopt: they have them.
  Result<std::optional<CommitOutcome>> outcome_of_versions(const Commit& commit,
                                                           const CommitRows& rows);
  Result<bool> are_open(const TenantId& tenant, const std::vector<InterruptId>& interrupts);
  Result<Done> check_opened(const TenantId& tenant, const CommitRows& rows);
  // Returns the commit's rows without the approvals that an earlier try has already inserted.
  Result<CommitRows> without_asked(const Commit& commit);
  // False if a concurrency limit is reached. `standing` is the stored run; null for a new one.
  Result<bool> find_places(const Commit& commit, const CommitRows& rows, const LockedRun* standing);
  // These only queue their statement; the next sync() or query() executes it.
  void put_queue(const QueueRow& queue);
  void edit_thread(const ThreadRow& thread);
  void move_run(const RunRow& run);
  void decide(const TenantId& tenant, const ApprovalRow& decision);
  Result<Done> write_guarded(const Commit& commit, const CommitRows& rows);
  Result<Done> write_unguarded(const Commit& commit, const CommitRows& rows);
  Result<bool> move_message(const Commit& commit, const OutboxRow& message);
  Result<Done> put_outcome(const TenantId& tenant, const EffectRow& outcome);
  Result<Done> preserve(const TenantId& tenant, const ThreadId& thread, bool value);
  Result<Done> delete_blobs(const TenantId& tenant, const CommitRows& rows);

  Connection& connection_;
  Clock* clock_;
  const Instant now_;
  const bool was_sent_;
};

}  // namespace belay::postgres
