#pragma once
// store/sqlite/commit_writer.h - one commit as statements, inside a transaction of the caller.
//
// Threading: the writer's thread only.

#include <unordered_map>

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

// Binds a row's seal; null without a key, because there is no seal.
Statement& bind_seal(Statement& statement, const std::string& seal);

class CommitWriter {
 public:
  CommitWriter(Connection& connection, Clock& clock) : connection_(connection), clock_(clock) {}

  // Judges the guards and writes the rows that they allow. After an Error the transaction holds a
  // part of the commit: roll it back, and call forget().
  // REQUIRES: store::check_commit(commit); `commit` outlives the call.
  Result<CommitOutcome> apply(const Commit& commit);

  // Forgets the numbers learnt in a transaction that was rolled back.
  void forget();

 private:
  struct Hash {
    std::size_t operator()(const Uuid& id) const;
  };
  struct Place {  // where a run's rows go
    std::int64_t tenant = 0;
    std::int64_t run = 0;  // its number
  };
  struct KnownRun {
    Place place;
    // As this process last wrote it, or nothing.
    std::optional<RunStatus> status = std::nullopt;
    std::uint64_t seq = 0;
    CheckpointId checkpoint = {};
  };
  // Which rows to write, or, when null, the answer.
  struct GuardResult {
    const CommitRows* rows = nullptr;
    CommitOutcome outcome = CommitOutcome::applied;
  };

  // 0 for a tenant that was never written for.
  Result<std::int64_t> known_tenant(const TenantId& tenant);
  Result<std::int64_t> tenant_number(const TenantId& tenant);
  Result<std::int64_t> graph_number(std::int64_t tenant, const RunRow& run);
  // 0 for the null session.
  Result<std::int64_t> session_number(const SessionId& session);
  // 0 for a thread or run that does not exist.
  Result<std::int64_t> thread_number(std::int64_t tenant, const ThreadId& thread);
  Result<std::int64_t> run_number(std::int64_t tenant, const RunId& run);
  // The same for statements that do not name the run's id in addition to its number.
  Result<std::int64_t> sure_run_number(std::int64_t tenant, const RunId& run);
  // Forgets a cached number that is not the run's (any more); true if there was one.
  Result<bool> forget_if_stale(const RunId& run);

  Result<GuardResult> check_approval_guard(const Commit& commit, const Place& place);
  Result<bool> is_active(std::int64_t run);
  Result<bool> are_open(const Place& place, const std::vector<InterruptId>& interrupts);
  // queue_rows.cc: whether every group of the run has a place for it, where the commit asks.
  Result<bool> has_capacity(const Commit& commit, const Place& place, const RunRow& run);
  Result<Done> put_queue(std::int64_t tenant, const QueueRow& row);
  Result<bool> guard_holds(const RunGuard& guard, const Place& place, const RunId& run);
  Result<CommitOutcome> outcome_of_moved_run(const Commit& commit, const Place& place);

  // Uses the cached numbers; writes nothing if the result is `fenced` or
  // `exists`.
  Result<CommitOutcome> apply_as_known(const Commit& commit);
  Result<CommitOutcome> apply_pending(const Commit& commit, Place place);
  Result<CommitOutcome> apply_without_run(const Commit& commit, Place place);
  Result<CommitOutcome> apply_first(const Commit& commit, Place place);
  Result<CommitOutcome> apply_next(const Commit& commit, const Place& place);

  void remember_checkpoint(const CheckpointRow& checkpoint);
  // Whether the run stood where the guard says, and now stands as `run` says.
  Result<bool> move_run(const RunGuard& guard, const Place& place, const RunRow& run);
  Result<bool> update_run(const RunGuard& guard, const Place& place, const RunRow& run,
                          std::int64_t session, bool same_status);
  Result<Done> insert_thread(std::int64_t tenant, const ThreadRow& thread);
  Result<std::int64_t> insert_run(std::int64_t tenant, const RunRow& run);
  Result<Done> check_opened(const Place& place, const CommitRows& rows);
  // Whether a pending write has asked for it already.
  Result<bool> is_asked(const Place& place, const ApprovalRow& approval);
  // `before` is the checkpoint of the seq before, where that is known.
  Result<Done> write_children(const Place& place, const CommitRows& rows, CheckpointId before);
  Result<Done> write_unguarded(const Place& place, const CommitRows& rows);
  Result<Done> insert_checkpoint(const Place& place, const CheckpointRow& row,
                                 const CheckpointId& before);
  Result<Done> write_work(const Place& place, const CommitRows& rows);
  Result<Done> put_value(const Place& place, const ValueRow& row);
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
                          Instant updated_at);
  Result<Done> remove_record(std::int64_t tenant, const RecordPut& put);

  Connection& connection_;
  Clock& clock_;
  // Numbers never change once assigned, but another process might prune a run, and its number is
  // then reused. Therefore statements name the run's id too, and a result that a stale number may
  // have caused is computed again. Bounded: cleared when too many.
  std::unordered_map<std::string, std::int64_t> tenants_;
  std::unordered_map<Uuid, std::int64_t, Hash> sessions_;
  std::unordered_map<Uuid, KnownRun, Hash> runs_;
};

}  // namespace belay::sqlite
