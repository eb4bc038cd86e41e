#pragma once
// store/encrypted/encrypted_snapshot.h - a snapshot that decrypts the rows of another snapshot.
//
// The blobs to which a page of rows refers are read in one call, within the same snapshot.

#include "belay/store.h"
#include "store/encrypted/envelope_sealer.h"

namespace belay::encrypted {

class EncryptedSnapshot final : public Snapshot {
 public:
  EncryptedSnapshot(Snapshot& inner, EnvelopeSealer& sealer) : inner_(inner), sealer_(sealer) {}

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
  // Returns envelopes and digests as they are stored.
  Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) override;
  Result<std::vector<TenantId>> tenants() override;
  Result<std::vector<QueueRow>> queues(const TenantId& tenant) override;
  Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                               const std::optional<UserId>& user) override;
  Result<std::vector<ConcurrencyCount>> running_counts(const TenantId& tenant,
                                                       ConcurrencyScope of) override;
  Result<std::vector<SessionRow>> sessions(const SessionFilter& filter) override;

 private:
  Result<std::vector<StoredRecord>> found_in_range(const RecordQuery& query);
  Result<std::vector<StoredRecord>> found_by(const RecordQuery& query);
  Result<std::vector<ApprovalRow>> open_approvals(const ApprovalFilter& filter);

  Snapshot& inner_;
  EnvelopeSealer& sealer_;
};

// Opens the readable texts of a run returned by a poll; damaged texts are omitted.
void open_offer(EnvelopeSealer& sealer, RunRow& row);

}  // namespace belay::encrypted
