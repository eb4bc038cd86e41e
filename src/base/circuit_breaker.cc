#include "base/circuit_breaker.h"

#include <algorithm>

namespace belay {

void CircuitBreaker::become(State state) {
  state_ = state;
  ++turn_;
  failures_ = probing_ = worked_ = 0;
}

CircuitBreaker::State CircuitBreaker::state(Instant now) {
  if (state_ == State::open && now >= open_until_) become(State::half_open);
  return state_;
}

std::optional<CircuitBreaker::Pass> CircuitBreaker::enter(Instant now) {
  switch (state(now)) {
    case State::closed:
      return Pass{turn_};
    case State::open:
      return std::nullopt;
    case State::half_open:
      break;
  }
  if (probing_ + worked_ >= std::max(options_.half_open_max, 1)) return std::nullopt;
  ++probing_;
  return Pass{turn_};
}

void CircuitBreaker::ended(Pass pass, Verdict verdict, Instant now) {
  // The state has changed since this use passed: its verdict is outdated.
  if (pass.turn != turn_) return;
  bool tries_out = state_ == State::half_open;
  if (tries_out) --probing_;
  if (verdict == Verdict::unknown) return;
  if (verdict == Verdict::worked) {
    failures_ = 0;
    if (tries_out && ++worked_ >= std::max(options_.half_open_max, 1)) become(State::closed);
    return;
  }
  ++failures_;
  bool opens = options_.failure_threshold > 0 && failures_ >= options_.failure_threshold;
  if (!tries_out && !opens) return;
  become(State::open);
  open_until_ = now + options_.open_duration;
}

void CircuitBreaker::warn() {
  if (state_ == State::closed) failures_ = std::max(failures_, options_.failure_threshold - 1);
}

std::optional<std::chrono::milliseconds> CircuitBreaker::open_duration(Instant now) {
  if (state(now) != State::open) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(open_until_ - now);
}

}  // namespace belay
