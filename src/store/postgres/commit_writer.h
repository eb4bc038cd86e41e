#pragma once
// store/postgres/commit_writer.h - one commit by itself, statement by statement, inside a
// transaction of the caller: what needs a look before it may be written, and what a batch left
// over.
//
// Locks in this order, as everybody does: the run, its approvals, then what is written; so nobody
// waits in a circle, and a decision and the commit of the run's owner never pass each other.
//
// Threading: the writer's thread only.

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

class CommitWriter {
 public:
  // `clock` judges approvals' expiry; null: the server's clock does. `now` is when records outside
  // of a run are saved. `was_sent`: the very same commit was sent before, and the reply was lost.
  CommitWriter(Connection& connection, Clock* clock, Instant now, bool was_sent)
      : connection_(connection), clock_(clock), now_(now), was_sent_(was_sent) {}

  // Judges the guards and writes the rows that they allow. After an Error the transaction has
  // failed, or holds a part of the commit: roll it back.
  // REQUIRES: store::check_commit(commit).
  Result<CommitOutcome> apply(const Commit& commit);

 private:
  // A run's row, locked until the end of the transaction.
  struct LockedRun {
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    RunStatus status = RunStatus::queued;
  };
  // Which rows to write, or, when null, the answer.
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
  Result<CommitOutcome> outcome_of_moved_run(const Commit& commit);
  Result<GuardResult> check_approval_guard(const Commit& commit);
  Result<bool> are_open(const TenantId& tenant, const std::vector<InterruptId>& interrupts);
  Result<Done> check_opened(const TenantId& tenant, const CommitRows& rows);
  // Of a pending write's questions those that were not asked yet.
  Result<CommitRows> without_asked(const Commit& commit);
  // `standing`: how the run stands; null for one that is not there yet.
  Result<bool> find_places(const Commit& commit, const CommitRows& rows, const LockedRun* standing);
  // These only queue their statement.
  void put_queue(const QueueRow& queue);
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
