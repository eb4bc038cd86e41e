#include "cli/redis_settings.h"

#include <algorithm>

#include "cli/settings.h"

namespace belay::cli {
namespace {

constexpr std::size_t kPrefixBytesMax = 100;

struct Use {
  std::string_view name;
  bool RedisSettings::* member;
  std::string_view former_name = {};  // accepted for one release
};
constexpr Use kUses[] = {{"hints", &RedisSettings::hints},
                         {"limits", &RedisSettings::limits},
                         {"replies", &RedisSettings::replies, "answers"},
                         {"checkpoints", &RedisSettings::checkpoints}};

// Returns whether `name` is one of the comma-separated `names`.
bool contains(std::string_view names, std::string_view name) {
  return !name.empty() &&
         ("," + std::string(names) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

Result<Done> read_uses(const Environment& environment, RedisSettings& settings) {
  std::string_view left = *environment.redis_for;
  for (const Use& use : kUses) {
    settings.*use.member = false;
    if (contains(left, use.name) && contains(left, use.former_name)) {
      std::string former(use.former_name);
      return error(ErrorCode::invalid, environment.origin("BELAY_REDIS_FOR") + " contains " +
                                           std::string(use.name) + " and " + former +
                                           ", two names of one use. Omit " + former + ".");
    }
  }
  while (!left.empty()) {
    std::size_t comma = std::min(left.find(','), left.size());
    std::string_view name = left.substr(0, comma);
    left.remove_prefix(std::min(comma + 1, left.size()));
    auto use = std::find_if(std::begin(kUses), std::end(kUses), [&](const Use& each) {
      return each.name == name || (!name.empty() && each.former_name == name);
    });
    if (use == std::end(kUses)) {
      return error(
          ErrorCode::invalid,
          environment.origin("BELAY_REDIS_FOR") + " contains \"" + shortened(name, 40, "...") +
              "\". Set it to a comma-separated list of hints, limits, replies and checkpoints.");
    }
    settings.*use->member = true;
  }
  return Done{};
}

}  // namespace

std::string RedisSettings::uses() const {
  std::string names;
  for (const Use& use : kUses) {
    if (this->*use.member) names += (names.empty() ? "" : ",") + std::string(use.name);
  }
  return names;
}

std::optional<std::string> redis_of(const Environment& environment) {
  const std::optional<std::string>& url = environment.redis_url;
  if (!url || !(url->starts_with("redis://") || url->starts_with("rediss://"))) {
    return std::nullopt;
  }
  return url;
}

Result<std::optional<RedisSettings>> redis_settings_from(const Environment& environment,
                                                         const GlobalFlags& flags) {
  const std::optional<std::string> of_host = redis_of(environment);
  const std::optional<std::string>& url = flags.redis         ? flags.redis
                                          : environment.redis ? environment.redis
                                                              : of_host;
  if (!url) return std::optional<RedisSettings>();
  RedisSettings settings;
  auto address = redis::address_from(*url);
  if (!address.ok()) {
    std::string named = flags.redis         ? "--redis"
                        : environment.redis ? environment.origin("BELAY_REDIS")
                                            : "REDIS_URL";
    return error(ErrorCode::invalid, named + ": " + address.error().message);
  }
  settings.address = *std::move(address);
  settings.ca_file = environment.redis_ca_file.value_or("");
  // An authority without TLS is an error: the user expects an encrypted connection.
  if (!settings.ca_file.empty() && !settings.address.is_tls) {
    return error(ErrorCode::invalid, environment.origin("BELAY_REDIS_CA_FILE") +
                                         " requires TLS, but the address of Redis begins with "
                                         "redis://. Use rediss://, or remove redis_ca_file.");
  }
  if (environment.redis_prefix) settings.prefix = *environment.redis_prefix;
  bool is_plain = std::all_of(settings.prefix.begin(), settings.prefix.end(),
                              [](char letter) { return letter > ' ' && letter <= '~'; });
  if (!is_plain || settings.prefix.size() > kPrefixBytesMax) {
    return error(ErrorCode::invalid,
                 environment.origin("BELAY_REDIS_PREFIX") +
                     " is invalid: expected up to 100 printable ASCII characters without spaces.");
  }
  if (environment.redis_for) BELAY_CHECK(read_uses(environment, settings));
  return std::optional(std::move(settings));
}

}  // namespace belay::cli
