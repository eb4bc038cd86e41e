#pragma once
// models/rate_limiter.h - rate limit: at most N calls start in any minute; further calls wait, in
// the order in which they arrived.
//
// Threading: the executor's thread.

#include <deque>

#include "belay/hints.h"
#include "belay/task.h"

namespace belay::models {

class RateLimiter {
 public:
  // 0: no limit. The clock and `shared` must outlive it. `shared` counts the calls of all processes
  // under `shared_name`; it can be null.
  RateLimiter(std::size_t per_minute, Clock& clock, SharedRateLimit* shared = nullptr,
              std::string shared_name = {})
      : per_minute_(per_minute),
        clock_(clock),
        shared_(shared),
        shared_name_(std::move(shared_name)) {}

  // Waits until a call is permitted to start. Fails with `unavailable` and a retry_after if the
  // wait would be longer than a minute. A call is counted even if its coroutine is destroyed while
  // it waits.
  Task<Result<Done>> enter(std::string name);

 private:
  Task<Result<Done>> wait_for_others(std::string name);
  Error is_full(const std::string& name, Instant::duration wait) const;

  const std::size_t per_minute_;
  Clock& clock_;
  SharedRateLimit* const shared_;
  const std::string shared_name_;
  std::deque<Instant> begins_;  // start times of the newest per_minute_ calls; some in the future
};

}  // namespace belay::models
