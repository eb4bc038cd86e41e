#pragma once
// redis/redis_text_cache.h - caches short texts in Redis for all processes of a store.
//
// With encryption keys, a text is encrypted and bound to its key. Without keys it is stored as it
// was given, unlike a reply of a model: readers compare it with the store (SharedTextCache).

#include "belay/hints.h"
#include "redis/client.h"
#include "redis/message_encryption.h"

namespace belay::redis {

class RedisTextCache final : public SharedTextCache {
 public:
  // `client` must outlive this object.
  RedisTextCache(Client& client, std::shared_ptr<const MessageEncryption> seal)
      : client_(client), seal_(std::move(seal)) {}
  // The key in Redis is the client's prefix and `key`.
  Task<std::optional<std::string>> get(std::string key) override;
  void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) override;
  void erase(const std::string& key) override;

 private:
  Client& client_;
  const std::shared_ptr<const MessageEncryption> seal_;
};

}  // namespace belay::redis
