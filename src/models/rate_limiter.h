#pragma once
// models/rate_limiter.h - no more than so many calls begun in any minute; those who come too early
// wait, in the order of their coming.
//
// Threading: the executor's thread.

#include <deque>

#include "belay/hints.h"
#include "belay/task.h"

namespace belay::models {

class RateLimiter {
 public:
  // 0: any number. The clock outlives it; so does `shared`, which other processes count in by the
  // same name, and which may be null.
  RateLimiter(std::size_t per_minute, Clock& clock, SharedRateLimit* shared = nullptr,
              std::string shared_name = {})
      : per_minute_(per_minute),
        clock_(clock),
        shared_(shared),
        shared_name_(std::move(shared_name)) {}

  // Waits until a call may begin. `unavailable`, with a retry_after, where that were longer than a
  // minute. The place of a task that is destroyed while it waits stays taken.
  Task<Result<Done>> enter(std::string name);

 private:
  Task<Result<Done>> wait_for_others(std::string name);
  Error is_full(const std::string& name, Instant::duration wait) const;

  const std::size_t per_minute_;
  Clock& clock_;
  SharedRateLimit* const shared_;
  const std::string shared_name_;
  std::deque<Instant> begins_;  // of the newest per_minute_ calls, some of them still to come
};

}  // namespace belay::models
