#pragma once
// cli/redis_settings.h - the optional fast tier: `--redis`, BELAY_REDIS, whom to believe there, and
// what it is used for.

#include <optional>
#include <string>

#include "belay/result.h"
#include "redis/address.h"

namespace belay::cli {

struct Environment;
struct GlobalFlags;

struct RedisSettings {
  redis::Address address;
  std::string ca_file;            // of rediss://; empty: whom the system trusts
  std::string prefix = "belay:";  // of all keys and channels
  // What it is used for.
  bool hints = true;         // wakes workers, hands on text while it comes
  bool limits = true;        // counts starts and calls of models for all processes
  bool answers = false;      // keeps answers of models; with keys only
  bool checkpoints = false;  // keeps runs' values

  std::string uses() const;  // "hints,limits"
};

// Nothing where no Redis is set. `invalid` names the setting, and never shows a password.
// REDIS_URL where it is one: the Redis where nobody names another.
std::optional<std::string> redis_of(const Environment& environment);

Result<std::optional<RedisSettings>> redis_settings_from(const Environment& environment,
                                                         const GlobalFlags& flags);

}  // namespace belay::cli
