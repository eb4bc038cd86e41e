#pragma once
// base/circuit_breaker.h - circuit breaker: stops the uses of a failing dependency for some time.
// Pure: the caller passes the time, and no call waits.
//
// Closed: every use passes; consecutive failures open the circuit. Open: no use passes until
// DependencyOptions::open_duration is over. Half-open: at most half_open_max uses pass as probes;
// that many successes close the circuit, one failure opens it again.

#include <cstdint>
#include <optional>

#include "belay/clock.h"
#include "belay/limits.h"
#include "belay/result.h"

namespace belay {

class CircuitBreaker {
 public:
  enum class State { closed, open, half_open };
  // The result of a use; `unknown` if it was cancelled, or failed for a reason that is not the
  // dependency's fault.
  enum class Verdict { worked, failed, unknown };
  // A use that has passed. Its verdict is ignored if the state has changed since.
  struct Pass {
    std::uint64_t turn = 0;
  };

  explicit CircuitBreaker(const DependencyOptions& options) : options_(options) {}

  State state(Instant now);
  // Returns nullopt if the circuit is open, or half-open with half_open_max probes already.
  std::optional<Pass> enter(Instant now);
  void ended(Pass pass, Verdict verdict, Instant now);
  // Records that another process has opened its circuit: if this one is closed, the next failure
  // opens it.
  void warn();
  // Returns the time until the circuit becomes half-open; nullopt unless it is open.
  std::optional<std::chrono::milliseconds> open_duration(Instant now);

 private:
  void become(State state);

  DependencyOptions options_;
  State state_ = State::closed;
  std::uint64_t turn_ = 0;  // incremented at each change of state
  int failures_ = 0;        // consecutive, while closed
  int probing_ = 0;         // probes of this half-open state that are in progress
  int worked_ = 0;          // probes of this half-open state that succeeded
  Instant open_until_{};
};

}  // namespace belay
