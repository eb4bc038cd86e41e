#pragma once
// server/rate_limit.h - limits how often an action happens in a minute, by user or address.
//
// Threading: the loop's thread.

#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "belay/clock.h"

namespace belay::server {

// Token bucket for each name: it allows a minute's tokens in a burst, then one after the other. It
// holds at most `names_max` names and evicts the least recently used one: a minute after its last
// token was taken, a bucket is full again anyway.
class RateLimit {
 public:
  static constexpr std::size_t names_max_default = 10'000;

  // `per_minute` 0: unlimited.
  RateLimit(Clock& clock, std::size_t per_minute, std::size_t names_max = names_max_default)
      : clock_(clock), per_minute_(per_minute), names_max_(names_max) {}

  // Takes a token. Returns nullopt on success, otherwise the time to wait for one.
  std::optional<std::chrono::milliseconds> take(const std::string& name);
  // Returns the time to wait for a token; nullopt if one is available. Takes none.
  std::optional<std::chrono::milliseconds> wait(const std::string& name);
  // Returns a taken token.
  void give_back(const std::string& name);

  std::size_t per_minute() const { return per_minute_; }
  std::size_t names() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::string name;
    double tokens = 0;
    Instant at{};
  };
  using Buckets = std::list<Bucket>;  // ordered by last use, oldest first

  Bucket& bucket_of(const std::string& name);
  std::optional<std::chrono::milliseconds> wait_of(const Bucket& bucket) const;

  Clock& clock_;
  const std::size_t per_minute_;
  const std::size_t names_max_;
  Buckets buckets_;
  std::unordered_map<std::string, Buckets::iterator> by_name_;
};

}  // namespace belay::server
