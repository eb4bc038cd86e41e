#include "telemetry/failure_rate.h"

namespace belay::telemetry {

FailureRate::Change FailureRate::count(bool has_failed, Instant now) {
  runs_.push_back({now, has_failed});
  if (has_failed) ++failed_;
  return look(now);
}

FailureRate::Change FailureRate::look(Instant now) {
  // A clock that was set back must not keep old runs forever: the size is bounded, too.
  while (!runs_.empty() && (runs_.front().at + alert_.window <= now || runs_.size() > kRunsMax)) {
    if (runs_.front().has_failed) --failed_;
    runs_.pop_front();
  }
  if (!alert_.is_on) return Change::none;
  bool is_high = runs_.size() >= alert_.runs_min && rate() > alert_.rate;
  bool is_low = rate() < alert_.rate / 2;
  if (!is_raised_ && is_high) {
    is_raised_ = true;
    return Change::raised;
  }
  if (is_raised_ && is_low) {
    is_raised_ = false;
    return Change::cleared;
  }
  return Change::none;
}

double FailureRate::rate() const {
  if (runs_.empty()) return 0;
  return static_cast<double>(failed_) / static_cast<double>(runs_.size());
}

}  // namespace belay::telemetry
