#pragma once
// cli/redis_tier.h - RedisTier: the objects of a Redis that a command uses; all are null without
// one.

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
  // Connects in the background. If there is no Redis, or while it is unavailable, everything works
  // without it. Fails with `invalid` if the reply cache is on without encryption keys. Must be
  // created and destroyed on the executor's thread.
  static Result<std::unique_ptr<RedisTier>> open(const Settings& settings, const KeyRing& keys,
                                                 Executor& executor, Random& random);
  virtual ~RedisTier() = default;

  virtual Hints hints() = 0;
  virtual SharedRateLimit* limit() = 0;
  virtual SharedReplyCache* replies() = 0;
  virtual SharedTextCache* texts() = 0;
  // Returns a store that forwards to `store`, with a cache of run values in front if that is
  // switched on. `store` and this object must outlive it.
  virtual std::unique_ptr<Store> around(Store& store) = 0;
};

redis::ClientOptions client_options(const RedisSettings& settings);

// Returns the diagnostics for `belay doctor`; empty if no Redis is configured.
std::vector<Diagnostic> diagnose_redis(const Settings& settings);

}  // namespace belay::cli
