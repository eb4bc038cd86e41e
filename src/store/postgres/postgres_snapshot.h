#pragma once
// store/postgres/postgres_snapshot.h - a snapshot on one connection: a transaction that the first
// read begins.
//
// Threading: one thread at a time.

#include <optional>

#include "belay/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/query.h"

namespace belay::postgres {

class PostgresSnapshot final : public Snapshot {
 public:
  // REQUIRES: the connection is in no transaction. The caller ends the snapshot's transaction.
  explicit PostgresSnapshot(Connection& connection) : connection_(connection) {}
  // For Store::poll_runs(): runs() by priority locks the due runs that it returns, and skips runs
  // that another transaction has locked or that are hidden for `claims_for` (visibility timeout).
  // Its reads are not consistent with each other: the transaction is READ COMMITTED.
  PostgresSnapshot(Connection& connection, const SessionId& claims_for)
      : connection_(connection), claims_for_(claims_for) {}

  Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) override;
  Result<std::vector<RunRow>> runs(const RunFilter& filter) override;
  Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override;
  Result<std::vector<ValueRow>> values(const ValueFilter& filter) override;
  Result<std::vector<EventRow>> events(const EventFilter& filter) override;
  Result<std::vector<ApprovalRow>> approvals(const ApprovalFilter& filter) override;
  Result<std::vector<StoredRecord>> records(const RecordQuery& query) override;
  Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) override;
  Result<std::vector<EffectRow>> effects(const EffectFilter& filter) override;
  Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) override;
  Result<std::vector<BlobRow>> blobs(const TenantId& tenant,
                                     const std::vector<Digest>& ids) override;
  Result<std::vector<BlobUse>> blob_uses(const TenantId& tenant, const Digest& after) override;
  Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) override;
  Result<std::vector<TenantId>> tenants() override;
  Result<std::vector<QueueRow>> queues(const TenantId& tenant) override;
  Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                               const std::optional<UserId>& user) override;
  Result<std::vector<ConcurrencyCount>> running_counts(const TenantId& tenant,
                                                       ConcurrencyScope of) override;
  Result<std::vector<SessionRow>> sessions(const SessionFilter& filter) override;

  // True if a transaction was started, which the caller must end.
  bool has_started() const { return has_started_; }
  // The Error of the first failed read. All later reads fail with it too: the transaction has
  // ended, and another one would have another snapshot.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Result<std::vector<ValueRow>> every_value(const ValueFilter& filter);
  Result<std::vector<ValueRow>> thread_values(const ValueFilter& filter);
  Result<std::vector<ValueRow>> values_that_count(const ValueFilter& filter);
  // Adds all conditions except the tenant, the order and the limit.
  static void add_run_conditions(Query& query, const RunFilter& filter);
  // For filters that order by priority: reads one level of priority after the other from an index.
  void ask_by_priority(const RunFilter& filter, Query& query);
  Result<Rows> ask(const Query& query);
  template <typename Row, typename ReadRow>
  Result<std::vector<Row>> all(const Query& query, ReadRow read_row) {
    if (query.finds_nothing()) return std::vector<Row>();
    BELAY_TRY(Rows rows, ask(query));
    return read_all<Row>(rows, std::move(read_row));
  }

  Connection& connection_;
  std::optional<SessionId> claims_for_;
  bool has_started_ = false;
  std::optional<Error> failure_;
};

}  // namespace belay::postgres
