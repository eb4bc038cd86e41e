#pragma once
// base/circuit_breaker.h - whether something that fails again and again is to be left alone for a
// while. Pure: time is handed in, nothing waits here.
//
// Closed: everything passes; failures in a row open it. Open: nothing passes until its time is
// over. Half-open: a few uses try it out; that many successes close it, one failure opens it again.

#include <cstdint>
#include <optional>

#include "belay/clock.h"
#include "belay/limits.h"
#include "belay/result.h"

namespace belay {

class CircuitBreaker {
 public:
  enum class State { closed, open, half_open };
  // What a use came to; `unknown` for one that was stopped, or failed for a reason of its own.
  enum class Verdict { worked, failed, unknown };
  // A use that was let through. What it came to counts only in the state that let it through.
  struct Pass {
    std::uint64_t turn = 0;
  };

  explicit CircuitBreaker(const DependencyOptions& options) : options_(options) {}

  State state(Instant now);
  // Lets a use through, or not: the circuit is open, or enough are trying it out.
  std::optional<Pass> enter(Instant now);
  void ended(Pass pass, Verdict verdict, Instant now);
  // Another process has found it broken: while closed, the next failure opens it.
  void warn();
  // How long it stays open; nothing unless it is.
  std::optional<std::chrono::milliseconds> open_duration(Instant now);

 private:
  void become(State state);

  DependencyOptions options_;
  State state_ = State::closed;
  std::uint64_t turn_ = 0;  // grows with every change of state
  int failures_ = 0;        // in a row, while closed
  int probing_ = 0;         // of this half-open turn: under way, and those that worked
  int worked_ = 0;
  Instant open_until_{};
};

}  // namespace belay
