#pragma once
// redis/redis_rate_limit.h - a rate limit per minute that all processes share through Redis.
//
// Generic cell rate algorithm: one time per key, by the clock of Redis, read and updated atomically
// by a script. Permits a burst of one minute's requests, then evenly spaced ones.

#include "belay/hints.h"
#include "redis/client.h"

namespace belay::redis {

class RedisRateLimit final : public SharedRateLimit {
 public:
  // `client` must outlive this object.
  explicit RedisRateLimit(Client& client) : client_(client) {}
  Task<std::optional<std::chrono::milliseconds>> acquire(std::string name,
                                                         std::size_t per_minute) override;
  Task<Done> give_back(std::string name, std::size_t per_minute) override;

 private:
  Client& client_;
};

}  // namespace belay::redis
