#pragma once
// redis/redis_reply_cache.h - answers of models, kept in a Redis for all processes with the same
// keys.
//
// Only encrypted: an answer decides what a run goes on with, so nobody but who has the keys may be
// able to put one there. Without a key nothing is kept, and nothing found.

#include "belay/hints.h"
#include "redis/client.h"
#include "redis/message_encryption.h"

namespace belay::redis {

class RedisReplyCache final : public SharedReplyCache {
 public:
  // `client` outlives it.
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
