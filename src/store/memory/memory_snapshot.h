#pragma once
// store/memory/memory_snapshot.h - a snapshot of an in-memory store, under its mutex.

#include "store/memory/open_sessions.h"
#include "store/memory/tables.h"

namespace belay::store {

class MemorySnapshot final : public Snapshot {
 public:
  // Without `sessions`, sessions() returns only the owners of runs.
  explicit MemorySnapshot(const Tables& tables, const OpenSessions* sessions = nullptr)
      : tables_(tables), sessions_(sessions) {}

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
  // Null if the tenant or the run does not exist.
  const RunTable* run(const TenantId& tenant, const RunId& run) const;

  const Tables& tables_;
  const OpenSessions* sessions_;
};

}  // namespace belay::store
