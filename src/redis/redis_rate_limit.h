#pragma once
// redis/redis_rate_limit.h - how often something may be done in a minute, counted in a Redis for
// all processes that name it alike.
//
// By the generic cell rate algorithm: one moment a key, by Redis's own clock, read and moved by a
// script at once. As many as a minute allows may come together, then one after the other.

#include "belay/hints.h"
#include "redis/client.h"

namespace belay::redis {

class RedisRateLimit final : public SharedRateLimit {
 public:
  // `client` outlives it.
  explicit RedisRateLimit(Client& client) : client_(client) {}
  Task<std::optional<std::chrono::milliseconds>> acquire(std::string name,
                                                         std::size_t per_minute) override;
  Task<Done> give_back(std::string name, std::size_t per_minute) override;

 private:
  Client& client_;
};

}  // namespace belay::redis
