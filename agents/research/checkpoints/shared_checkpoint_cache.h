#pragma once
// agents/research/checkpoints/shared_checkpoint_cache.h - the cache of checkpoints in the tier that
// all processes of a store share, such as Redis.

#include "agents/research/checkpoints/checkpoint_cache.h"
#include "belay/hints.h"

namespace belay::research {

class SharedCheckpointCache final : public CheckpointCache {
 public:
  // `texts` must outlive the cache.
  explicit SharedCheckpointCache(SharedTextCache& texts) : texts_(texts) {}

  Task<std::optional<std::string>> get(std::string key) override {
    return texts_.get(std::move(key));
  }
  void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) override {
    texts_.put(key, std::move(text), ttl);
  }
  void remove(const std::string& key) override { texts_.erase(key); }

 private:
  SharedTextCache& texts_;
};

}  // namespace belay::research
