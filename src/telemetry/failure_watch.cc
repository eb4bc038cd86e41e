#include "telemetry/failure_watch.h"

#include <algorithm>

#include "telemetry/families.h"

namespace belay::telemetry {
namespace {

// The rule of an alert. Values that are out of range become the nearest ones of the range.
analytics::FailureRule rule_of(const FailureAlert& alert) {
  constexpr double kThousand = 1'000;
  analytics::FailureRule rule;
  rule.window = std::clamp<std::chrono::milliseconds>(alert.window, analytics::alert_window_min,
                                                      analytics::alert_window_max);
  double rate = alert.rate > 0 ? std::min(alert.rate, 1.0) : 0;
  rule.fire_above = static_cast<std::int64_t>(rate * kThousand + 0.5);
  rule.clear_below = rule.fire_above / 2;
  constexpr std::size_t kRunsMinMax = 1'000'000'000;
  rule.invocations_min =
      static_cast<std::int64_t>(std::clamp<std::size_t>(alert.runs_min, 1, kRunsMinMax));
  return rule;
}

}  // namespace

FailureWatch::FailureWatch(const FailureAlert& alert, Telemetry telemetry)
    : rule_(rule_of(alert)),
      is_on_(alert.is_on),
      telemetry_(telemetry),
      reporter_(alert.reporter) {}

void FailureWatch::count(bool has_failed, Instant now) {
  std::lock_guard lock(mutex_);
  analytics::Outcomes one;
  (has_failed ? one.failed : one.success) = 1;
  step(now, one);
}

void FailureWatch::look(Instant now) {
  std::lock_guard lock(mutex_);
  if (state_.is_firing) step(now, {});
}

// REQUIRES: mutex_ is locked.
void FailureWatch::step(Instant now, analytics::Outcomes since) {
  analytics::AlertStep step = analytics::next_alert(rule_, std::move(state_), now, since);
  state_ = std::move(step.state);
  if (!is_on_) state_.is_firing = false;
  if (telemetry_.metrics) {
    FailureReport current = report_of(state_.is_firing, analytics::outcomes_of(state_), now);
    telemetry_.metrics->set(kFailureRate, {}, current.rate());
    telemetry_.metrics->set(kFailureAlert, {}, current.is_firing ? 1 : 0);
  }
  if (!step.event || !is_on_) return;
  bool is_firing = step.event->change == analytics::AlertChange::fired;
  publish(report_of(is_firing, step.event->outcomes, step.event->at));
}

FailureReport FailureWatch::report_of(bool is_firing, const analytics::Outcomes& sum,
                                      Instant at) const {
  FailureReport report;
  report.is_firing = is_firing;
  report.failed = sum.failed;
  report.ended = sum.success + sum.failed;
  report.window = rule_.window;
  report.at = at;
  return report;
}

// REQUIRES: mutex_ is locked, so that the reports have the order of the changes.
void FailureWatch::publish(const FailureReport& report) const {
  if (telemetry_.log) {
    LogEntry entry;
    entry.level = report.is_firing ? LogLevel::error : LogLevel::info;
    entry.event = report.is_firing ? "alert.failure_rate" : "alert.failure_rate_cleared";
    entry.fields = {{"failed", std::to_string(report.failed)},
                    {"ended", std::to_string(report.ended)}};
    telemetry_.log->write(std::move(entry));
  }
  if (reporter_) reporter_(report);
}

}  // namespace belay::telemetry
