#pragma once
// analytics/failure_alert.h - the alert about an agent whose invocations fail too often: pure
// functions of a rule, a state, the time and the invocations since the last call.
//
//   AlertStep step = next_alert(rule, state, clock.now(), {.success = 3, .failed = 1});
//   state = step.state;
//   if (step.event) log_and_post(*step.event);
//
// Hysteresis: the alert fires once when the rate of the window exceeds `fire_above`. It clears once
// when at least one window has passed since then and the rate is below `clear_below`, or no
// invocation of the window has failed. A rate between the two changes nothing.
//
// It keeps at most slices_max + 1 counts, and its state can be stored. FailureAlert of
// belay/telemetry.h is its setting for all runs of a process.
//
// Threading: values.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "belay/clock.h"
#include "belay/result.h"

namespace belay::analytics {

struct FailureRule {
  std::chrono::milliseconds window = std::chrono::minutes(15);
  std::int64_t fire_above = 50;       // failed of 1,000 invocations: 5 %
  std::int64_t clear_below = 25;      // not above fire_above
  std::int64_t invocations_min = 20;  // fewer in the window do not fire
  friend bool operator==(const FailureRule&, const FailureRule&) = default;
};

inline constexpr std::chrono::milliseconds alert_window_min = std::chrono::minutes(1);
inline constexpr std::chrono::milliseconds alert_window_max = std::chrono::hours(24 * 7);

// Returns `invalid`, with the member and its range, for a rule that is out of range.
Result<Done> check_rule(const FailureRule& rule);

struct Outcomes {
  std::int64_t success = 0;
  std::int64_t failed = 0;
  friend bool operator==(const Outcomes&, const Outcomes&) = default;
};

// The counts of a part of the window. The parts start at multiples of their length since 1970, and
// invocations leave the window in whole parts: it is up to one part, a sixtieth, longer than the
// rule's.
struct AlertSlice {
  std::int64_t number = 0;
  Outcomes outcomes = {};
  friend bool operator==(const AlertSlice&, const AlertSlice&) = default;
};

inline constexpr std::int64_t slices_max = 60;  // of one window

struct AlertState {
  std::chrono::microseconds slice{0};   // length of a part
  std::vector<AlertSlice> slices = {};  // ascending, at most slices_max + 1
  bool is_firing = false;
  Instant fired_at{};  // if is_firing
  Instant seen_at{};   // the latest time so far, from 1970 on
  friend bool operator==(const AlertState&, const AlertState&) = default;
};

enum class AlertChange { fired, cleared };

struct AlertEvent {
  AlertChange change = AlertChange::fired;
  Instant at{};
  Outcomes outcomes = {};  // of the window
  friend bool operator==(const AlertEvent&, const AlertEvent&) = default;
};

struct AlertStep {
  AlertState state;
  std::optional<AlertEvent> event = std::nullopt;
};

// Counts `since` as invocations of the time `now`. A `now` before that of an earlier call counts as
// that one: a clock that is set back neither removes nor repeats anything. Negative counts count as
// 0. Call it with no invocations, too, because an alert clears by time. A `state` of another window
// loses its counts, not whether it fires. REQUIRES: check_rule(rule).ok().
AlertStep next_alert(const FailureRule& rule, AlertState state, Instant now, Outcomes since);

// Returns the sum of the window's counts, as of the last call.
Outcomes outcomes_of(const AlertState& state);

}  // namespace belay::analytics
