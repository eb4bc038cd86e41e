#include "cli/redis_tier.h"

#include "redis/cached_store.h"
#include "redis/client.h"
#include "redis/redis_hints.h"
#include "redis/redis_rate_limit.h"
#include "redis/redis_reply_cache.h"
#include "redis/redis_text_cache.h"
#include "store/forwarding_store.h"

namespace belay::cli {
namespace {

// A short command must be connected before it can publish its hints.
constexpr std::chrono::milliseconds kFirstTry{50};

class NoRedis final : public RedisTier {
 public:
  Hints hints() override { return {}; }
  SharedRateLimit* limit() override { return nullptr; }
  SharedReplyCache* replies() override { return nullptr; }
  SharedTextCache* texts() override { return nullptr; }
  std::unique_ptr<Store> around(Store& store) override {
    return std::make_unique<ForwardingStore>(store);
  }
};

class OneRedis final : public RedisTier {
 public:
  OneRedis(const RedisSettings& settings, const KeyRing& keys, Executor& executor, Random& random)
      : settings_(settings),
        client_(client_options(settings), random),
        seal_(std::make_shared<redis::MessageEncryption>(keys, random)),
        wake_up_(client_, executor),
        broadcast_(client_, seal_),
        limit_(client_),
        replies_(client_, seal_),
        texts_(client_, seal_) {
    client_.wait_for_first_try(kFirstTry);
  }
  Hints hints() override { return settings_.hints ? Hints{&wake_up_, &broadcast_} : Hints{}; }
  SharedRateLimit* limit() override { return settings_.limits ? &limit_ : nullptr; }
  SharedReplyCache* replies() override { return settings_.replies ? &replies_ : nullptr; }
  SharedTextCache* texts() override { return settings_.checkpoints ? &texts_ : nullptr; }
  std::unique_ptr<Store> around(Store& store) override {
    if (settings_.checkpoints) return redis::cache_store(store, client_);
    return std::make_unique<ForwardingStore>(store);
  }

 private:
  const RedisSettings settings_;
  redis::Client client_;
  const std::shared_ptr<const redis::MessageEncryption> seal_;
  redis::RedisNotifier wake_up_;
  redis::RedisBroadcast broadcast_;
  redis::RedisRateLimit limit_;
  redis::RedisReplyCache replies_;
  redis::RedisTextCache texts_;
};

}  // namespace

redis::ClientOptions client_options(const RedisSettings& settings) {
  redis::ClientOptions options;
  options.link.address = settings.address;
  options.link.ca_file = settings.ca_file;
  options.prefix = settings.prefix;
  return options;
}

Result<std::unique_ptr<RedisTier>> RedisTier::open(const Settings& settings, const KeyRing& keys,
                                                   Executor& executor, Random& random) {
  std::unique_ptr<RedisTier> tier = std::make_unique<NoRedis>();
  if (!settings.redis) return tier;
  if (settings.redis->replies && keys.empty()) {
    return error(
        ErrorCode::invalid,
        "Model replies are stored in Redis only if encrypted. Name a key file (--key-file, "
        "BELAY_KEY_FILE), or remove replies from redis_for (BELAY_REDIS_FOR).");
  }
  tier = std::make_unique<OneRedis>(*settings.redis, keys, executor, random);
  return tier;
}

}  // namespace belay::cli
