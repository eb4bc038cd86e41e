#include "tests/support/tampered_store.h"

#include <algorithm>
#include <tuple>

#include "check/read_store.h"
#include "check/replay.h"

namespace belay::check {
namespace {

template <typename Row, typename Matches>
std::vector<Row> newest_first(const std::vector<Row>& rows, std::size_t limit, Matches matches) {
  std::vector<Row> found;
  for (auto row = rows.rbegin(); row != rows.rend() && found.size() < limit; ++row) {
    if (matches(*row)) found.push_back(*row);
  }
  return found;
}

class TamperedSnapshot final : public Snapshot {
 public:
  explicit TamperedSnapshot(const StoredRows& rows) : rows_(rows) {}

  Result<std::vector<TenantId>> tenants() override { return std::vector<TenantId>(); }
  Result<std::vector<QueueRow>> queues(const TenantId&) override { return std::vector<QueueRow>(); }
  Result<std::vector<QueueCount>> queue_counts(const TenantId&, Instant,
                                               const std::optional<UserId>&) override {
    return std::vector<QueueCount>();
  }
  Result<std::vector<ConcurrencyCount>> running_counts(const TenantId&, ConcurrencyScope) override {
    return std::vector<ConcurrencyCount>();
  }
  Result<std::vector<SessionRow>> sessions(const SessionFilter&) override {
    return std::vector<SessionRow>();
  }

  Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) override {
    if (filter.tenant != default_tenant()) return std::vector<ThreadRow>();
    return newest_first(rows_.threads, filter.limit, [&](const ThreadRow& row) {
      return !filter.thread || *filter.thread == row.thread;
    });
  }

  Result<std::vector<RunRow>> runs(const RunFilter& filter) override {
    std::vector<RunRow> found;
    if (filter.tenant != default_tenant()) return found;
    for (auto run = rows_.runs.rbegin(); run != rows_.runs.rend(); ++run) {
      const RunRow& row = run->row;
      bool is_wanted = std::find(filter.statuses.begin(), filter.statuses.end(), row.status) !=
                           filter.statuses.end() &&
                       !rows_.missing_by_status.contains(row.run);
      bool matches = (!filter.run || *filter.run == row.run) &&
                     (!filter.thread || *filter.thread == row.thread) &&
                     (filter.statuses.empty() || is_wanted);
      if (matches && found.size() < filter.limit) found.push_back(row);
    }
    return found;
  }

  Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) override {
    const SpaceContents* checkpoint_ns = space_of(filter.run, filter.checkpoint_ns);
    if (!checkpoint_ns) return std::vector<CheckpointRow>();
    return newest_first(checkpoint_ns->checkpoints, filter.limit, [&](const CheckpointRow& row) {
      return (!filter.seq || row.seq == *filter.seq) &&
             (!filter.before_seq || row.seq < *filter.before_seq);
    });
  }

  Result<std::vector<ValueRow>> values(const ValueFilter& filter) override {
    BELAY_ASSERT(filter.every_version);
    std::vector<ValueRow> found;
    for (const SpaceContents* checkpoint_ns : spaces_of(run(filter.run))) {
      found.insert(found.end(), checkpoint_ns->values.begin(), checkpoint_ns->values.end());
    }
    std::sort(found.begin(), found.end(), [](const ValueRow& one, const ValueRow& other) {
      return std::tie(one.seq, one.checkpoint_ns, one.channel, one.index) <
             std::tie(other.seq, other.checkpoint_ns, other.channel, other.index);
    });
    return found;
  }

  Result<std::vector<EventRow>> events(const EventFilter& filter) override {
    std::vector<EventRow> found;
    for (const EventRow& row : run(filter.run).events) {
      bool is_after =
          std::pair(row.seq, row.index) > std::pair(filter.after_seq, filter.after_index);
      if (is_after && found.size() < filter.limit) found.push_back(row);
    }
    return found;
  }

  Result<std::vector<ApprovalRow>> approvals(const ApprovalFilter& filter) override {
    std::vector<ApprovalRow> all;
    for (const RunContents& each : rows_.runs) {
      if (filter.run && each.row.run != *filter.run) continue;
      all.insert(all.end(), each.approvals.begin(), each.approvals.end());
    }
    if (!filter.run) all.insert(all.end(), rows_.strays.begin(), rows_.strays.end());
    if (filter.tenant != default_tenant()) all.clear();
    return newest_first(all, filter.limit, [](const ApprovalRow&) { return true; });
  }

  Result<std::vector<StoredRecord>> records(const RecordQuery& query) override {
    std::vector<StoredRecord> found;
    for (const StoredRecord& row : rows_.records) {
      bool is_next = query.of_every_user
                         ? std::tie(row.user, row.key) > std::tie(query.user, query.after)
                         : row.user == query.user && row.key > query.after;
      bool matches = row.collection == query.collection && is_next;
      if (matches && found.size() < query.limit) found.push_back(row);
    }
    return found;
  }

  Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) override {
    const SpaceContents* checkpoint_ns = space_of(filter.run, filter.checkpoint_ns);
    return checkpoint_ns ? checkpoint_ns->tasks : std::vector<TaskRow>();
  }
  Result<std::vector<EffectRow>> effects(const EffectFilter& filter) override {
    std::vector<EffectRow> found;
    for (const RunContents& each : rows_.runs) {
      if (filter.run && each.row.run != *filter.run) continue;
      found.insert(found.end(), each.effects.begin(), each.effects.end());
    }
    if (!filter.run)
      found.insert(found.end(), rows_.stray_effects.begin(), rows_.stray_effects.end());
    if (filter.tenant != default_tenant()) found.clear();
    return found;
  }
  Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) override {
    std::vector<OutboxRow> found;
    for (const RunContents& each : rows_.runs) {
      if (filter.run && each.row.run != *filter.run) continue;
      found.insert(found.end(), each.outbox.begin(), each.outbox.end());
    }
    if (!filter.run)
      found.insert(found.end(), rows_.stray_messages.begin(), rows_.stray_messages.end());
    if (filter.tenant != default_tenant()) found.clear();
    return found;
  }
  Result<std::vector<BlobUse>> blob_uses(const TenantId&, const Digest&) override {
    return std::vector<BlobUse>();
  }
  Result<std::vector<BlobRow>> blobs(const TenantId&, const std::vector<Digest>&) override {
    return std::vector<BlobRow>();
  }
  Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter&) override {
    return std::vector<StoredEnvelope>();
  }

 private:
  const RunContents& run(const RunId& id) const {
    static const RunContents none;
    for (const RunContents& run : rows_.runs) {
      if (run.row.run == id) return run;
    }
    return none;
  }

  // Null if it does not exist.
  const SpaceContents* space_of(const RunId& id, const std::string& name) const {
    const RunContents& contents = run(id);
    if (name.empty()) return &contents;
    auto found = contents.inner.find(name);
    return found == contents.inner.end() ? nullptr : &found->second;
  }

  const StoredRows& rows_;
};

template <typename Row>
void erase_commit(std::vector<Row>& rows, std::uint64_t seq) {
  std::erase_if(rows, [seq](const Row& row) { return row.seq == seq; });
}

}  // namespace

RunContents& StoredRows::run(const std::string& thread) {
  auto found = std::find_if(runs.begin(), runs.end(), [&](const RunContents& each) {
    return each.row.thread.text == thread;
  });
  BELAY_ASSERT(found != runs.end());
  return *found;
}

Result<StoredRows> rows_in(Snapshot& view, const CheckScope& scope) {
  StoredRows rows;
  BELAY_TRY(StoreContents store, read_lists(view, default_tenant()));
  rows.threads = std::move(store.threads);
  std::reverse(rows.threads.begin(), rows.threads.end());
  for (auto listed = store.runs.rbegin(); listed != store.runs.rend(); ++listed) {
    BELAY_TRY(auto run, read_run(view, scope, listed->run));
    rows.runs.push_back(std::move(run).value());
  }
  for (const std::string& collection : scope.collections) {
    RecordQuery query;
    query.tenant = default_tenant();
    query.collection = collection;
    query.of_every_user = true;
    BELAY_TRY(auto found, view.records(query));
    std::move(found.begin(), found.end(), std::back_inserter(rows.records));
  }
  return rows;
}

void chain_again(const RunContents& run, SpaceContents& checkpoint_ns) {
  Replay replay(run, checkpoint_ns);
  for (CheckpointRow& checkpoint : checkpoint_ns.checkpoints) {
    replay.next();
    checkpoint.chain_hash = replay.chain_hash();
  }
}

void chain_again(RunContents& run) {
  chain_again(run, run);
  for (auto& [name, checkpoint_ns] : run.inner) chain_again(run, checkpoint_ns);
}

void lose_newest_commit(RunContents& run) {
  std::uint64_t seq = run.row.seq;
  erase_commit(run.checkpoints, seq);
  erase_commit(run.values, seq);
  erase_commit(run.events, seq);
  erase_commit(run.approvals, seq);
  const CheckpointRow& newest = run.checkpoints.back();
  Replay replay(run);
  while (replay.next()) continue;
  RunRow& row = run.row;
  row.status = newest.status;
  row.reason.clear();
  row.outcome.clear();
  row.error.clear();
  row.seq = newest.seq;
  row.epoch = newest.epoch;
  row.session = newest.session;
  row.checkpoint = newest.id;
  row.node = nodes_text(*replay.tasks());
  row.retry_count = newest.retry_count;
  row.updated_at = newest.created_at;
}

void write_value(SpaceContents& run, std::uint64_t seq, const std::string& channel,
                 const std::string& json) {
  auto place = run.values.begin();
  for (; place != run.values.end() && place->seq <= seq; ++place) {
    if (place->seq != seq || place->channel != channel) continue;
    place->envelope = json_envelope(json);
    return;
  }
  ValueRow row;
  row.run = run.checkpoints.front().run;
  row.checkpoint_ns = run.checkpoint_ns;
  row.channel = channel;
  row.seq = seq;
  row.envelope = json_envelope(json);
  run.values.insert(place, std::move(row));
}

Task<Result<CommitOutcome>> TamperedStore::commit(Commit) {
  co_return error(ErrorCode::unavailable, "A tampered store is not written to.");
}

Task<Result<Done>> TamperedStore::read(Reader reader) {
  TamperedSnapshot view(rows_);
  co_return reader(view);
}

}  // namespace belay::check
