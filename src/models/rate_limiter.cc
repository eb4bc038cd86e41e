#include "models/rate_limiter.h"

#include <algorithm>

namespace belay::models {

namespace {

constexpr std::chrono::minutes window{1};

}  // namespace

Error RateLimiter::is_full(const std::string& name, Instant::duration wait) const {
  Error full = error(ErrorCode::unavailable,
                     "\"" + name + "\" has reached its rate limit (calls per minute: " +
                         std::to_string(per_minute_) + "). Try again later.");
  full.retry_after = std::chrono::ceil<milliseconds>(wait);
  return full;
}

Task<Result<Done>> RateLimiter::enter(std::string name) {
  if (per_minute_ == 0) co_return Done{};
  Instant now = clock_.now();
  Instant begin = now;
  if (begins_.size() == per_minute_) begin = std::max(now, begins_.front() + window);
  // Bounds the wait if the clock was set back.
  begin = std::min(begin, now + 2 * window);
  auto wait = begin - now;
  if (wait > window) {
    co_return is_full(name, wait - window);
  }
  // Before the wait: calls that arrive during it must queue behind this one.
  begins_.push_back(begin);
  if (begins_.size() > per_minute_) begins_.pop_front();
  if (wait.count() > 0) co_await sleep_for(wait);
  co_return co_await wait_for_others(std::move(name));
}

// Waits until the limit that processes share permits the call. If the shared count is unavailable,
// only this process's own count applies.
Task<Result<Done>> RateLimiter::wait_for_others(std::string name) {
  milliseconds waited{0};
  while (shared_) {
    auto wait = co_await shared_->acquire(shared_name_, per_minute_);
    if (!wait || wait->count() <= 0) break;
    if (waited + *wait > window) co_return is_full(name, *wait);
    waited += *wait;
    co_await sleep_for(*wait);
  }
  co_return Done{};
}

}  // namespace belay::models
