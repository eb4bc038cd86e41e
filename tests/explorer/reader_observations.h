#pragma once
// tests/explorer/reader_observations.h - records the results of all reads of a store
//
// Readers are compared by these results alone: two contents of the store that return the same
// results to a reader are equivalent for it.

#include <variant>
#include <vector>

#include "store/memory/memory_snapshot.h"

namespace belay::explorer {

using Rows = std::variant<std::vector<ThreadRow>, std::vector<RunRow>, std::vector<CheckpointRow>,
                          std::vector<ValueRow>, std::vector<EventRow>, std::vector<ApprovalRow>,
                          std::vector<StoredRecord>, std::vector<TaskRow>, std::vector<EffectRow>,
                          std::vector<OutboxRow>, std::vector<BlobRow>, std::vector<BlobUse>,
                          std::vector<TenantId>, std::vector<QueueRow>, std::vector<QueueCount>,
                          std::vector<ConcurrencyCount>, std::vector<SessionRow>>;
using Seen = std::vector<Rows>;

class ObservingSnapshot final : public Snapshot {
 public:
  explicit ObservingSnapshot(const store::Tables& tables) : view_(tables) {}

  Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) override {
    return keep(view_.threads(filter));
  }
  Result<std::vector<RunRow>> runs(const RunFilter& filter) override {
    return keep(view_.runs(filter));
  }
  Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override {
    return keep(view_.checkpoints(filter));
  }
  Result<std::vector<ValueRow>> values(const ValueFilter& filter) override {
    return keep(view_.values(filter));
  }
  Result<std::vector<EventRow>> events(const EventFilter& filter) override {
    return keep(view_.events(filter));
  }
  Result<std::vector<ApprovalRow>> approvals(const ApprovalFilter& filter) override {
    return keep(view_.approvals(filter));
  }
  Result<std::vector<StoredRecord>> records(const RecordQuery& query) override {
    return keep(view_.records(query));
  }
  Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) override {
    return keep(view_.tasks(filter));
  }
  Result<std::vector<EffectRow>> effects(const EffectFilter& filter) override {
    return keep(view_.effects(filter));
  }
  Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) override {
    return keep(view_.outbox(filter));
  }
  Result<std::vector<BlobRow>> blobs(const TenantId& tenant,
                                     const std::vector<Digest>& ids) override {
    return keep(view_.blobs(tenant, ids));
  }
  Result<std::vector<BlobUse>> blob_uses(const TenantId& tenant, const Digest& after) override {
    return keep(view_.blob_uses(tenant, after));
  }
  Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) override {
    return view_.envelopes(filter);  // only re-encryption reads them
  }

  Result<std::vector<TenantId>> tenants() override { return keep(view_.tenants()); }
  Result<std::vector<QueueRow>> queues(const TenantId& tenant) override {
    return keep(view_.queues(tenant));
  }
  Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                               const std::optional<UserId>& user) override {
    return keep(view_.queue_counts(tenant, now, user));
  }
  Result<std::vector<ConcurrencyCount>> running_counts(const TenantId& tenant,
                                                       ConcurrencyScope of) override {
    return keep(view_.running_counts(tenant, of));
  }
  Result<std::vector<SessionRow>> sessions(const SessionFilter& filter) override {
    return keep(view_.sessions(filter));
  }

  Seen take_seen() { return std::move(seen_); }

 private:
  template <typename T>
  Result<T> keep(Result<T> rows) {
    if (rows.ok()) seen_.emplace_back(*rows);
    return rows;
  }

  store::MemorySnapshot view_;
  Seen seen_;
};

}  // namespace belay::explorer
