#pragma once
// store/forwarding_snapshot.h - forwards each read to another snapshot: the base class of snapshots
// that change or count some of the reads.

#include "belay/store.h"

namespace belay {

class ForwardingSnapshot : public Snapshot {
 public:
  explicit ForwardingSnapshot(Snapshot& inner) : inner_(inner) {}

  Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override {
    return inner_.checkpoints(filter);
  }
  Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) override {
    return inner_.threads(filter);
  }
  Result<std::vector<TenantId>> tenants() override { return inner_.tenants(); }
  Result<std::vector<QueueRow>> queues(const TenantId& tenant) override {
    return inner_.queues(tenant);
  }
  Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                               const std::optional<UserId>& user) override {
    return inner_.queue_counts(tenant, now, user);
  }
  Result<std::vector<ConcurrencyCount>> running_counts(const TenantId& tenant,
                                                       ConcurrencyScope of) override {
    return inner_.running_counts(tenant, of);
  }
  Result<std::vector<SessionRow>> sessions(const SessionFilter& filter) override {
    return inner_.sessions(filter);
  }
  Result<std::vector<RunRow>> runs(const RunFilter& filter) override { return inner_.runs(filter); }
  Result<std::vector<ValueRow>> values(const ValueFilter& filter) override {
    return inner_.values(filter);
  }
  Result<std::vector<EventRow>> events(const EventFilter& filter) override {
    return inner_.events(filter);
  }
  Result<std::vector<ApprovalRow>> approvals(const ApprovalFilter& filter) override {
    return inner_.approvals(filter);
  }
  Result<std::vector<StoredRecord>> records(const RecordQuery& query) override {
    return inner_.records(query);
  }
  Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) override {
    return inner_.tasks(filter);
  }
  Result<std::vector<EffectRow>> effects(const EffectFilter& filter) override {
    return inner_.effects(filter);
  }
  Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) override {
    return inner_.outbox(filter);
  }
  Result<std::vector<BlobRow>> blobs(const TenantId& tenant,
                                     const std::vector<Digest>& ids) override {
    return inner_.blobs(tenant, ids);
  }
  Result<std::vector<BlobUse>> blob_uses(const TenantId& tenant, const Digest& after) override {
    return inner_.blob_uses(tenant, after);
  }
  Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) override {
    return inner_.envelopes(filter);
  }

 protected:
  Snapshot& inner() { return inner_; }

 private:
  Snapshot& inner_;
};

}  // namespace belay
