#pragma once
// redis/checkpoint_cache_writer.h - stores the values of runs in Redis after their commits, and
// deletes them when a run has ended, on its own thread.
//
// Threading: enqueue() from any thread.

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "redis/cached_store.h"

namespace belay::redis {

class CheckpointCacheWriter {
 public:
  // `store` and `client` must outlive this object.
  CheckpointCacheWriter(Store& store, Client& client, CachedStoreOptions options);
  CheckpointCacheWriter(const CheckpointCacheWriter&) = delete;
  CheckpointCacheWriter& operator=(const CheckpointCacheWriter&) = delete;
  ~CheckpointCacheWriter();

  // Queues the run, unless it is already queued.
  void enqueue(const TenantId& tenant, const RunId& run);
  std::uint64_t puts() const { return puts_; }

 private:
  using Job = std::pair<TenantId, RunId>;

  Task<Done> serve();
  std::optional<Job> next(const Completion<Done>& news);
  Task<Result<Done>> fill(Job job);

  Store& store_;
  Client& client_;
  const CachedStoreOptions options_;
  std::atomic<std::uint64_t> puts_ = 0;

  std::mutex mutex_;
  // Protected by mutex_.
  std::deque<Job> jobs_;
  std::set<Job> known_;
  std::optional<Completion<Done>> waiting_;
  bool is_stopping_ = false;

  const std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::thread thread_;  // last: it uses everything above
};

}  // namespace belay::redis
