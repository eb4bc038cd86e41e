#pragma once
// cli/redis_tier.h - what a command uses of a Redis: all that is null without one.

#include <memory>

#include "belay/hints.h"
#include "belay/storage.h"
#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::redis {
class Client;
struct ClientOptions;
}  // namespace belay::redis

namespace belay::cli {

class RedisTier {
 public:
  // Connects in the background; where there is no Redis, or none is set, everything goes on
  // without. `invalid` for answers without keys. On the executor's thread, its end too.
  static Result<std::unique_ptr<RedisTier>> open(const Settings& settings, const KeyRing& keys,
                                                 Executor& executor, Random& random);
  virtual ~RedisTier() = default;

  virtual Hints hints() = 0;
  virtual SharedRateLimit* limit() = 0;
  virtual SharedReplyCache* answers() = 0;
  // `store` itself, or with runs' values kept before it; that one outlives what it gives.
  virtual std::unique_ptr<Store> around(Store& store) = 0;
};

redis::ClientOptions client_options(const RedisSettings& settings);

// What belay doctor tells of it; empty where none is set.
std::vector<Diagnostic> diagnose_redis(const Settings& settings);

}  // namespace belay::cli
