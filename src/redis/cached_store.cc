#include "redis/cached_store.h"

#include "redis/checkpoint_cache_writer.h"
#include "redis/checkpoint_entry.h"
#include "store/forwarding_store.h"

namespace belay::redis {
namespace {

// Shared by readers and the store: a read can end after the store is destroyed.
struct Counts {
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> misses = 0;
  // A commit has rewritten stored bytes (re-encryption): Redis can contain the old ones.
  std::atomic<bool> is_rewritten = false;
};

class CachedSnapshot final : public Snapshot {
 public:
  CachedSnapshot(Snapshot& inner, Client& client, Counts& counts)
      : inner_(inner), client_(client), counts_(counts) {}

  Result<std::vector<RunRow>> runs(const RunFilter& filter) override {
    BELAY_TRY(auto rows, inner_.runs(filter));
    if (rows.size() == 1) run_ = rows.front();
    return rows;
  }
  Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override {
    BELAY_TRY(auto rows, inner_.checkpoints(filter));
    bool is_newest = run_ && !rows.empty() && filter.checkpoint_ns.empty() &&
                     rows.front().run == run_->run && rows.front().id == run_->checkpoint;
    if (is_newest) checkpoint_ = rows.front();
    return rows;
  }
  Result<std::vector<ValueRow>> values(const ValueFilter& filter) override {
    if (!may_be_cached(filter)) return inner_.values(filter);
    auto reply = client_.call_and_wait({"GET", client_.name(checkpoint_key(*run_))});
    if (reply.ok() && reply->kind == Reply::Kind::text) {
      auto values = values_in_entry(reply->text, *checkpoint_);
      if (values) {
        ++counts_.hits;
        return *std::move(values);
      }
    }
    ++counts_.misses;
    return inner_.values(filter);
  }

  Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) override {
    return inner_.threads(filter);
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

 private:
  bool may_be_cached(const ValueFilter& filter) const {
    return checkpoint_ && !counts_.is_rewritten && filter.run == checkpoint_->run &&
           filter.tenant == run_->tenant && filter.checkpoint_ns && filter.checkpoint_ns->empty() &&
           filter.thread.empty() && run_->ordinal == 0 && !filter.every_version &&
           filter.at_seq == checkpoint_->state_seq && checkpoint_->epoch == run_->epoch &&
           checkpoint_->seq == run_->seq && run_->run == checkpoint_->run && client_.is_up();
  }

  Snapshot& inner_;
  Client& client_;
  Counts& counts_;
  std::optional<RunRow> run_;  // the result of the last read of a single run
  std::optional<CheckpointRow> checkpoint_;
};

class CachedStore final : public ForwardingStore {
 public:
  CachedStore(Store& inner, Client& client, CachedStoreOptions options)
      : ForwardingStore(inner), client_(client), filler_(inner, client, options) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (!commit.rows.rewrites.empty()) counts_->is_rewritten = true;
    if (!commit.rows.run) co_return co_await inner().commit(std::move(commit));
    TenantId tenant = commit.tenant;
    RunId run = commit.rows.run->run;
    auto outcome = co_await inner().commit(std::move(commit));
    if (outcome.ok() && *outcome == CommitOutcome::applied) filler_.enqueue(tenant, run);
    co_return std::move(outcome);
  }

  Task<Result<Done>> read(Reader reader) override {
    return inner().read(
        [&client = client_, counts = counts_, reader = std::move(reader)](Snapshot& view) {
          CachedSnapshot cached(view, client, *counts);
          return reader(cached);
        });
  }

  CacheCounts counts() const { return {counts_->hits, counts_->misses, filler_.puts()}; }

 private:
  Client& client_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  CheckpointCacheWriter filler_;
};

}  // namespace

std::unique_ptr<Store> cache_store(Store& inner, Client& client, CachedStoreOptions options) {
  return std::make_unique<CachedStore>(inner, client, options);
}

CacheCounts cache_counts(const Store& store) {
  const auto* cached = dynamic_cast<const CachedStore*>(&store);
  return cached ? cached->counts() : CacheCounts{};
}

}  // namespace belay::redis
