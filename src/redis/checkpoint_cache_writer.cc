#include "redis/checkpoint_cache_writer.h"

#include "base/start_thread.h"
#include "redis/checkpoint_entry.h"

namespace belay::redis {
namespace {

// The key of a run's values, and the entry for those of its newest checkpoint.
struct Entry {
  std::string key;
  std::string bytes;  // empty: the run has ended, and its entry must be deleted
};

Result<std::optional<Entry>> entry_of(Snapshot& view, const TenantId& tenant, const RunId& run) {
  RunFilter runs;
  runs.tenant = tenant;
  runs.run = run;
  BELAY_TRY(auto rows, view.runs(runs));
  // A later run of a thread has the values of the thread's state, which are not cached.
  if (rows.empty() || rows.front().ordinal > 0) return std::optional<Entry>();
  if (is_final(rows.front().status)) return std::optional(Entry{checkpoint_key(rows.front()), ""});
  CheckpointFilter newest;
  newest.tenant = tenant;
  newest.run = run;
  newest.limit = 1;
  BELAY_TRY(auto checkpoints, view.checkpoints(newest));
  if (checkpoints.empty()) return std::optional<Entry>();
  ValueFilter values;
  values.tenant = tenant;
  values.run = run;
  values.at_seq = checkpoints.front().state_seq;
  values.checkpoint_ns = "";
  BELAY_TRY(auto found, view.values(values));
  return std::optional(
      Entry{checkpoint_key(rows.front()), checkpoint_entry(checkpoints.front(), found)});
}

}  // namespace

CheckpointCacheWriter::CheckpointCacheWriter(Store& store, Client& client,
                                             CachedStoreOptions options)
    : store_(store), client_(client), options_(options) {
  thread_ = start_thread([this] { block_on(*loop_, serve()); });
}

CheckpointCacheWriter::~CheckpointCacheWriter() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    if (waiting_) waiting_->complete(Done{});
  }
  thread_.join();
}

void CheckpointCacheWriter::enqueue(const TenantId& tenant, const RunId& run) {
  if (!client_.is_up()) return;
  std::lock_guard lock(mutex_);
  if (jobs_.size() >= options_.runs_max || !known_.emplace(tenant, run).second) return;
  jobs_.emplace_back(tenant, run);
  if (waiting_) waiting_->complete(Done{});
}

std::optional<CheckpointCacheWriter::Job> CheckpointCacheWriter::next(
    const Completion<Done>& news) {
  std::lock_guard lock(mutex_);
  waiting_.reset();
  if (!jobs_.empty() && !is_stopping_) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    known_.erase(job);
    return job;
  }
  waiting_ = news;
  if (is_stopping_) news.complete(Done{});
  return std::nullopt;
}

Task<Done> CheckpointCacheWriter::serve() {
  while (true) {
    Completion<Done> news;
    auto job = next(news);
    if (!job) {
      co_await news;
      std::lock_guard lock(mutex_);
      if (is_stopping_) co_return Done{};
      continue;
    }
    // A failure is ignored: the next commit of the run queues it again.
    auto filled = co_await fill(*std::move(job));
    (void)filled;
  }
}

Task<Result<Done>> CheckpointCacheWriter::fill(Job job) {
  std::function<Result<std::optional<Entry>>(Snapshot&)> reader =
      [tenant = std::move(job.first), run = job.second](Snapshot& view) {
        return entry_of(view, tenant, run);
      };
  auto entry = co_await read<std::optional<Entry>>(store_, std::move(reader));
  if (!entry.ok()) co_return std::move(entry).error();
  if (!*entry || (*entry)->bytes.size() > options_.entry_bytes_max) co_return Done{};
  if ((*entry)->bytes.empty()) {
    Command gone{"DEL", client_.name((*entry)->key)};
    client_.send(gone);
    co_return Done{};
  }
  Command put{"SET", client_.name((*entry)->key), std::move((*entry)->bytes), "EX",
              std::to_string(options_.ttl.count())};
  client_.send(put);
  ++puts_;
  co_return Done{};
}

}  // namespace belay::redis
