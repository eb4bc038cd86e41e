#pragma once
// redis/cached_store.h - caches the channel values of runs in Redis.
//
// After a commit is durable, a background thread reads the run's current values and stores them in
// Redis, up to the limits below. A reader that has read a run's row and its newest checkpoint from
// the store uses the values in Redis if they belong to exactly that checkpoint
// (redis/checkpoint_entry.h), and those of the store otherwise. All other reads use the store.
//
// Place it below encryption, so that the values in Redis are as encrypted as those in the store. A
// read waits for Redis on the store's reader thread, at most for the reply timeout. The cache is
// useful if Redis is nearer than the store: docs/redis.md has figures.

#include <memory>

#include "belay/store.h"
#include "redis/client.h"

namespace belay::redis {

struct CachedStoreOptions {
  std::chrono::seconds ttl = std::chrono::hours(24 * 7);
  std::size_t entry_bytes_max = 1u << 20;  // larger entries are not cached
  std::size_t runs_max = 1'024;            // queued runs; further ones are not cached
};

// `inner` and `client` must outlive the store.
std::unique_ptr<Store> cache_store(Store& inner, Client& client, CachedStoreOptions options = {});

// Counters of a store that cache_store() returned, for tests and figures.
struct CacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t puts = 0;
};
CacheCounts cache_counts(const Store& store);

}  // namespace belay::redis
