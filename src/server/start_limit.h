#pragma once
// server/start_limit.h - how many runs a user may ask for in a minute.

#include <cmath>
#include <map>
#include <optional>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay::server {

// A bucket of tokens for each user: as many as a minute gives at once, then one after the other.
class StartLimit {
 public:
  StartLimit(Clock& clock, std::size_t per_minute) : clock_(clock), per_minute_(per_minute) {}

  // Nothing where the user may; else how long to wait.
  std::optional<std::chrono::milliseconds> take(const UserId& user) {
    if (per_minute_ == 0) return std::nullopt;
    constexpr double minute_ms = 60'000;
    const double most = static_cast<double>(per_minute_);
    Instant now = clock_.now();
    if (buckets_.size() > kUsersMax) buckets_.clear();
    auto [found, is_new] = buckets_.try_emplace(user.text, Bucket{most, now});
    Bucket& bucket = found->second;
    auto passed = std::chrono::duration<double, std::milli>(now - bucket.at).count();
    bucket.at = now;
    bucket.tokens = std::min(most, bucket.tokens + std::max(passed, 0.0) * most / minute_ms);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return std::nullopt;
    }
    double wait = (1 - bucket.tokens) * minute_ms / most;
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait)));
  }

 private:
  static constexpr std::size_t kUsersMax = 100'000;
  struct Bucket {
    double tokens = 0;
    Instant at{};
  };

  Clock& clock_;
  const std::size_t per_minute_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace belay::server
