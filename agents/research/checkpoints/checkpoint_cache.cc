#include "agents/research/checkpoints/checkpoint_cache.h"

#include <iterator>
#include <utility>

namespace belay::research {

std::string checkpoint_cache_key(const std::string& analysis_id, const std::string& agent_type) {
  return "checkpoint:" + analysis_id + ":" + agent_type;
}

Task<std::optional<std::string>> MemoryCheckpointCache::get(std::string key) {
  std::optional<std::string> text;
  auto found = index_.find(key);
  if (found == index_.end()) co_return std::move(text);
  if (found->second->expires > clock_.now()) {
    text = found->second->text;
  } else {
    remove(key);
  }
  co_return std::move(text);
}

void MemoryCheckpointCache::put(const std::string& key, std::string text,
                                std::chrono::milliseconds ttl) {
  remove(key);
  std::size_t bytes = key.size() + text.size();
  if (bytes > bytes_max_ || ttl.count() <= 0) return;
  while (bytes_ + bytes > bytes_max_) {
    std::string first = entries_.front().key;
    remove(first);
  }
  entries_.push_back({key, std::move(text), clock_.now() + ttl});
  index_.emplace(key, std::prev(entries_.end()));
  bytes_ += bytes;
}

void MemoryCheckpointCache::remove(const std::string& key) {
  auto found = index_.find(key);
  if (found == index_.end()) return;
  bytes_ -= found->second->key.size() + found->second->text.size();
  entries_.erase(found->second);
  index_.erase(found);
}

}  // namespace belay::research
