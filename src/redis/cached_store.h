#pragma once
// redis/cached_store.h - a store whose runs are read faster where a Redis has their values.
//
// After a commit is durable, the run's values as they then stand are read once more, behind it, and
// put into Redis; what there is too much of is left out. A reader that has seen a run's row and its
// newest checkpoint in the store takes the values from Redis if they are just that checkpoint's
// (redis/checkpoint_entry.h), and from the store otherwise. All else is the store's.
//
// Stand it below encryption, so that what is in Redis is as encrypted as the store. A read waits
// for Redis on the store's own reading thread, for no longer than one reply may take. It pays where
// Redis is nearer than the store: docs/redis.md has figures.

#include <memory>

#include "belay/store.h"
#include "redis/client.h"

namespace belay::redis {

struct CachedStoreOptions {
  std::chrono::seconds ttl = std::chrono::hours(24 * 7);
  std::size_t entry_bytes_max = 1u << 20;  // larger ones are not kept
  std::size_t runs_max = 1'024;            // that wait to be put; further ones are left out
};

// Both outlive it.
std::unique_ptr<Store> cache_store(Store& inner, Client& client, CachedStoreOptions options = {});

// What has come of it so far, for tests and figures; of a store that cache_store() made.
struct CacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t puts = 0;
};
CacheCounts cache_counts(const Store& store);

}  // namespace belay::redis
