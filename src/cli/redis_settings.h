#pragma once
// cli/redis_settings.h - settings of the optional Redis tier: its address, its TLS authority, and
// the uses that are switched on.

#include <optional>
#include <string>

#include "belay/result.h"
#include "redis/address.h"

namespace belay::cli {

struct Environment;
struct GlobalFlags;

struct RedisSettings {
  redis::Address address;
  std::string ca_file;            // for rediss://; empty: the system's authorities
  std::string prefix = "belay:";  // of all keys and channels
  // The uses that are switched on.
  bool hints = true;         // notifies workers, forwards deltas of streams
  bool limits = true;        // shares the rate limits of starts and model calls
  bool replies = false;      // shares the reply cache; requires encryption keys
  bool checkpoints = false;  // caches the values of runs, and texts of modules

  std::string uses() const;  // Example: "hints,limits".
};

// redis_settings_from() returns nullopt if no Redis is configured. Fails with `invalid`; the
// message names the setting and never contains a password. redis_of() returns REDIS_URL if it is a
// URL of Redis: the default if no setting names a Redis.
std::optional<std::string> redis_of(const Environment& environment);

Result<std::optional<RedisSettings>> redis_settings_from(const Environment& environment,
                                                         const GlobalFlags& flags);

}  // namespace belay::cli
