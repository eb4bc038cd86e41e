#pragma once
// agents/research/checkpoints/checkpoint_cache.h - CheckpointCache: a fast tier in front of the
// store for the newest checkpoint of each agent, such as Redis.
//
// A cache saves time and never decides: a reader compares each text with the store
// (agent_checkpointer.h). A cache may lose, delay, repeat or damage texts.
//
// Threading: call every method on the executor's thread.

#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "belay/clock.h"
#include "belay/task.h"

namespace belay::research {

class CheckpointCache {
 public:
  virtual ~CheckpointCache() = default;
  // Returns nullopt if the key is not cached, or the cache is unavailable.
  virtual Task<std::optional<std::string>> get(std::string key) = 0;
  // Stores a text for `ttl`, without waiting. It is dropped if the cache is unavailable.
  virtual void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) = 0;
  // Removes a text, likewise.
  virtual void remove(const std::string& key) = 0;
};

// Returns the key of an agent's newest checkpoint: "checkpoint:{analysis_id}:{agent_type}".
std::string checkpoint_cache_key(const std::string& analysis_id, const std::string& agent_type);

// A cache of this process. Above `bytes_max`, the texts that were stored first are removed.
class MemoryCheckpointCache final : public CheckpointCache {
 public:
  // `clock` must outlive the cache.
  explicit MemoryCheckpointCache(Clock& clock, std::size_t bytes_max = 16u << 20)
      : clock_(clock), bytes_max_(bytes_max) {}

  Task<std::optional<std::string>> get(std::string key) override;
  void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) override;
  void remove(const std::string& key) override;

  std::size_t bytes() const { return bytes_; }  // of all keys and texts

 private:
  struct Entry {
    std::string key;
    std::string text;
    Instant expires{};
  };

  Clock& clock_;
  const std::size_t bytes_max_;
  std::list<Entry> entries_;  // the first one stored first
  std::map<std::string, std::list<Entry>::iterator> index_;
  std::size_t bytes_ = 0;
};

}  // namespace belay::research
