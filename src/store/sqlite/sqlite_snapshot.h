#pragma once
// store/sqlite/sqlite_snapshot.h - a snapshot on one connection, in a read transaction of the
// caller.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

class SqliteSnapshot final : public Snapshot {
 public:
  explicit SqliteSnapshot(Connection& connection) : connection_(connection) {}

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

 private:
  struct Place {
    std::int64_t tenant = 0;
    std::int64_t run = 0;
  };
  Result<std::vector<ValueRow>> every_value(const Place& place, const ValueFilter& filter);
  Result<std::vector<ValueRow>> thread_values(const ValueFilter& filter);
  Result<std::vector<ValueRow>> values_that_count(const Place& place, const ValueFilter& filter);
  // 0 if the tenant or run does not exist.
  Result<std::int64_t> tenant_number(const TenantId& tenant);
  Result<Place> place_of(const TenantId& tenant, const RunId& run);

  Connection& connection_;
};

}  // namespace belay::sqlite
