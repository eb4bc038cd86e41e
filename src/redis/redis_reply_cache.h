#pragma once
// redis/redis_reply_cache.h - caches replies of models in Redis for all processes with the same
// keys.
//
// Only encrypted: a run continues with a cached reply, so that only holders of the keys may be able
// to store one. If there is no key, nothing is stored and nothing is found.

#include "belay/hints.h"
#include "redis/client.h"
#include "redis/message_encryption.h"

namespace belay::redis {

class RedisReplyCache final : public SharedReplyCache {
 public:
  // `client` must outlive this object.
  RedisReplyCache(Client& client, std::shared_ptr<const MessageEncryption> seal)
      : client_(client), seal_(std::move(seal)) {}
  Task<std::optional<std::string>> get(Digest request) override;
  void put(const Digest& request, std::string answer, std::chrono::milliseconds ttl) override;
  void erase(const Digest& request) override;

 private:
  std::string name_of(const Digest& request) const;

  Client& client_;
  const std::shared_ptr<const MessageEncryption> seal_;
};

}  // namespace belay::redis
