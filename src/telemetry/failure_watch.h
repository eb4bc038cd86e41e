#pragma once
// telemetry/failure_watch.h - FailureWatch: reports the alert about many failed runs of a process,
// as entries of the log, gauges, and calls of a function. The rule, with its hysteresis, is
// analytics/failure_alert.h.
//
// Threading: any thread.

#include <functional>
#include <mutex>

#include "analytics/failure_alert.h"
#include "belay/telemetry.h"

namespace belay::telemetry {

class FailureWatch {
 public:
  FailureWatch(const FailureAlert& alert, Telemetry telemetry);

  // Counts a run that ended.
  void count(bool has_failed, Instant now);
  // The same for the time alone: an alert clears even if no more runs end.
  void look(Instant now);

 private:
  void step(Instant now, analytics::Outcomes since);
  FailureReport report_of(bool is_firing, const analytics::Outcomes& sum, Instant at) const;
  void publish(const FailureReport& report) const;

  const analytics::FailureRule rule_;
  const bool is_on_;
  const Telemetry telemetry_;
  const std::function<void(const FailureReport&)> reporter_;
  std::mutex mutex_;
  analytics::AlertState state_;
};

}  // namespace belay::telemetry
