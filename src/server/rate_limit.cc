#include "server/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace belay::server {
namespace {

constexpr double kMinuteMs = 60'000;

}  // namespace

RateLimit::Bucket& RateLimit::bucket_of(const std::string& name) {
  const double most = static_cast<double>(per_minute_);
  Instant now = clock_.now();
  auto known = by_name_.find(name);
  if (known == by_name_.end()) {
    if (buckets_.size() >= names_max_) {
      by_name_.erase(buckets_.front().name);
      buckets_.pop_front();
    }
    buckets_.push_back({name, most, now});
    by_name_.emplace(name, std::prev(buckets_.end()));
    return buckets_.back();
  }
  buckets_.splice(buckets_.end(), buckets_, known->second);
  Bucket& bucket = buckets_.back();
  auto passed = std::chrono::duration<double, std::milli>(now - bucket.at).count();
  bucket.at = now;
  bucket.tokens = std::min(most, bucket.tokens + std::max(passed, 0.0) * most / kMinuteMs);
  return bucket;
}

std::optional<std::chrono::milliseconds> RateLimit::wait_of(const Bucket& bucket) const {
  if (bucket.tokens >= 1) return std::nullopt;
  double wait = (1 - bucket.tokens) * kMinuteMs / static_cast<double>(per_minute_);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait)));
}

std::optional<std::chrono::milliseconds> RateLimit::take(const std::string& name) {
  if (per_minute_ == 0) return std::nullopt;
  Bucket& bucket = bucket_of(name);
  auto wait = wait_of(bucket);
  if (!wait) bucket.tokens -= 1;
  return wait;
}

std::optional<std::chrono::milliseconds> RateLimit::wait(const std::string& name) {
  // An unknown name has taken no token; a mere query must not add it.
  if (per_minute_ == 0 || !by_name_.contains(name)) return std::nullopt;
  return wait_of(bucket_of(name));
}

void RateLimit::give_back(const std::string& name) {
  if (per_minute_ == 0 || !by_name_.contains(name)) return;
  Bucket& bucket = bucket_of(name);
  bucket.tokens = std::min(static_cast<double>(per_minute_), bucket.tokens + 1);
}

}  // namespace belay::server
