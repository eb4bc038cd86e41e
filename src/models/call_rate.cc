#include "models/call_rate.h"

#include <algorithm>

namespace belay::models {

Task<Result<Done>> CallRate::enter(std::string name) {
  constexpr std::chrono::minutes window{1};
  if (per_minute_ == 0) co_return Done{};
  Instant now = clock_.now();
  Instant begin = now;
  if (begins_.size() == per_minute_) begin = std::max(now, begins_.front() + window);
  // A clock that was put back lets nobody wait for longer than that.
  begin = std::min(begin, now + 2 * window);
  auto wait = begin - now;
  if (wait > window) {
    Error full = error(ErrorCode::unavailable,
                       "\"" + name + "\" has been asked as often as it may be within a minute (" +
                           std::to_string(per_minute_) + "); try again later.");
    full.retry_after = std::chrono::ceil<milliseconds>(wait - window);
    co_return std::move(full);
  }
  begins_.push_back(begin);
  if (begins_.size() > per_minute_) begins_.pop_front();
  if (wait.count() > 0) co_await sleep_for(wait);
  co_return Done{};
}

}  // namespace belay::models
