#pragma once
// store/sqlite/commit_writer.h - applies one commit, statement by statement, in a transaction.
//
// The caller begins and ends the transaction, which can contain several commits.
//
// Threading: the writer's thread only.

#include <unordered_map>

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// Binds a row's seal; null if it is empty (a store without a key has no seals).
Statement& bind_seal(Statement& statement, const std::string& seal);

class CommitWriter {
 public:
  CommitWriter(Connection& connection, Clock& clock) : connection_(connection), clock_(clock) {}

  // Evaluates the guards and writes the rows that they permit. If it returns an Error, the
  // transaction can contain a part of the commit: the caller must roll it back and call forget().
  // REQUIRES: store::check_commit(commit); `commit` outlives the call.
  Result<CommitOutcome> apply(const Commit& commit);

  // Clears the cache. Required after a rollback: the transaction can have assigned cached numbers.
  void forget();

 private:
  struct Hash {
    std::size_t operator()(const Uuid& id) const;
  };
  struct Place {  // the tenant and run whose rows are written, by number
    std::int64_t tenant = 0;
    std::int64_t run = 0;
  };
  struct KnownRun {
    Place place;
    // As this process last wrote them; another process can have changed them since. nullopt, 0 and
    // the null id if not known.
    std::optional<RunStatus> status = std::nullopt;
    std::uint64_t seq = 0;
    CheckpointId checkpoint = {};
  };
  // The rows to write; if null, the outcome of the commit.
  struct GuardResult {
    const CommitRows* rows = nullptr;
    CommitOutcome outcome = CommitOutcome::applied;
  };

  // 0 for a tenant without a row.
  Result<std::int64_t> known_tenant(const TenantId& tenant);
  Result<std::int64_t> tenant_number(const TenantId& tenant);
  Result<std::int64_t> graph_number(std::int64_t tenant, const RunRow& run);
  // 0 for the null session.
  Result<std::int64_t> session_number(const SessionId& session);
  // 0 for a thread or run that does not exist.
  Result<std::int64_t> thread_number(std::int64_t tenant, const ThreadId& thread);
  Result<std::int64_t> run_number(std::int64_t tenant, const RunId& run);
  // The same for statements that contain only the run's number: checks a cached one first.
  Result<std::int64_t> sure_run_number(std::int64_t tenant, const RunId& run);
  // Removes the run's cached number if it belongs to no run or to another run; true if it did.
  Result<bool> forget_if_stale(const RunId& run);

  Result<GuardResult> check_approval_guard(const Commit& commit, const Place& place);
  Result<bool> is_active(std::int64_t run);
  Result<bool> are_open(const Place& place, const std::vector<InterruptId>& interrupts);
  // False if the commit makes the run running and a concurrency limit is reached. In queue_rows.cc.
  Result<bool> has_capacity(const Commit& commit, const Place& place, const RunRow& run);
  Result<Done> put_queue(std::int64_t tenant, const QueueRow& row);
  Result<bool> guard_holds(const RunGuard& guard, const Place& place, const RunId& run);
  Result<CommitOutcome> outcome_of_moved_run(const Commit& commit, const Place& place);

  // Uses the cached numbers. Writes nothing but perhaps a session's row if the outcome is `fenced`
  // or `exists`.
  Result<CommitOutcome> apply_as_known(const Commit& commit);
  Result<CommitOutcome> apply_pending(const Commit& commit, Place place);
  Result<CommitOutcome> apply_without_run(const Commit& commit, Place place);
  Result<CommitOutcome> apply_first(const Commit& commit, Place place);
  Result<CommitOutcome> apply_next(const Commit& commit, const Place& place);

  void remember_checkpoint(const CheckpointRow& checkpoint);
  // Updates the run's row to `run` if it matches the guard; returns whether it did.
  Result<bool> move_run(const RunGuard& guard, const Place& place, const RunRow& run);
  Result<bool> update_run(const RunGuard& guard, const Place& place, const RunRow& run,
                          std::int64_t session, bool same_status);
  Result<bool> guard_holds(std::int64_t tenant, std::int64_t thread, const ThreadGuard& guard);
  Result<Done> insert_thread(std::int64_t tenant, const ThreadRow& thread);
  // The outcome of an edit of a thread that cannot be applied; nullopt: it can, or it is absent.
  Result<std::optional<CommitOutcome>> outcome_of_edit(std::int64_t tenant, const CommitRows& rows);
  Result<Done> edit_thread(std::int64_t tenant, const ThreadRow& thread);
  Result<std::int64_t> insert_run(std::int64_t tenant, const RunRow& run);
  Result<Done> check_opened(const Place& place, const CommitRows& rows);
  // Whether the approval exists: an earlier pending write of the same task has opened it. Fails if
  // another task has.
  Result<bool> is_asked(const Place& place, const ApprovalRow& approval);
  // `before` is the checkpoint of the previous seq; null if not known.
  Result<Done> write_children(const Place& place, const CommitRows& rows, CheckpointId before);
  Result<Done> write_unguarded(const Place& place, const CommitRows& rows);
  Result<Done> insert_checkpoint(const Place& place, const CheckpointRow& row,
                                 const CheckpointId& before);
  Result<Done> write_work(const Place& place, const CommitRows& rows);
  Result<Done> put_value(const Place& place, const ValueRow& row);
  Result<Done> put_thread_value(const Place& place, const ValueRow& row);
  Result<Done> put_task(const Place& place, const TaskRow& row);
  Result<Done> put_effect(const Place& place, const EffectRow& row);
  Result<Done> put_outcome(std::int64_t tenant, const EffectRow& outcome);
  Result<Done> put_inner_checkpoint(const Place& place, const CheckpointRow& row);
  Result<Done> insert_message(const Place& place, const OutboxRow& row);
  Result<bool> move_message(std::int64_t tenant, const OutboxGuard& guard, const OutboxRow& row);
  Result<Done> put_blobs(std::int64_t tenant, const CommitRows& rows);
  Result<Done> delete_blobs(std::int64_t tenant, const CommitRows& rows);
  Result<Done> preserve(std::int64_t tenant, const ThreadId& thread, bool value);
  Result<Done> insert_event(const Place& place, const EventRow& row);
  Result<Done> insert_approval(const Place& place, const ApprovalRow& row);
  Result<Done> end_run(const Place& place, Instant now);
  Result<Done> decide(std::int64_t tenant, const ApprovalRow& row);
  Result<Done> put_records(const Place& place, const CommitRows& rows);
  Result<Done> put_record(const Place& place, const RecordPut& put, std::uint64_t seq,
                          Instant updated_at, std::uint64_t version);
  // Returns the version of the removed record; 0: it did not exist.
  Result<std::uint64_t> remove_record(std::int64_t tenant, const RecordPut& put);
  // The outcome of the versions that the records must have; nullopt: they have them.
  Result<std::optional<CommitOutcome>> outcome_of_versions(const Commit& commit, const Place& place,
                                                           const CommitRows& rows);

  Connection& connection_;
  Clock& clock_;
  // Caches of numbers; each is cleared when it reaches known_runs_max. An assigned number never
  // changes, but another process might prune a run, and its number is then reused. Therefore
  // statements contain the run's id too, and an outcome is computed again if a stale number might
  // have caused it.
  std::unordered_map<std::string, std::int64_t> tenants_;
  std::unordered_map<Uuid, std::int64_t, Hash> sessions_;
  std::unordered_map<Uuid, KnownRun, Hash> runs_;
};

}  // namespace belay::sqlite
