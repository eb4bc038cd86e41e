#pragma once
// telemetry/failure_rate.h - FailureRate: the share of failed runs in a sliding window, and the
// alert about it.
//
// Threading: one thread at a time.

#include <deque>

#include "belay/telemetry.h"

namespace belay::telemetry {

class FailureRate {
 public:
  enum class Change { none, raised, cleared };

  explicit FailureRate(FailureAlert alert) : alert_(alert) {}

  // Counts a run that ended, and returns whether the alert was raised or cleared by it.
  Change count(bool has_failed, Instant now);
  // The same for the time alone: ended runs leave the window.
  Change look(Instant now);

  double rate() const;  // 0 if no run ended
  std::size_t ended() const { return runs_.size(); }
  std::size_t failed() const { return failed_; }
  bool is_raised() const { return is_raised_; }

 private:
  struct EndedRun {
    Instant at;
    bool has_failed = false;
  };
  // More runs in a window than this are not needed for a rate.
  static constexpr std::size_t kRunsMax = 100'000;

  const FailureAlert alert_;
  std::deque<EndedRun> runs_;  // oldest first
  std::size_t failed_ = 0;
  bool is_raised_ = false;
};

}  // namespace belay::telemetry
