#include "base/dependency.h"

#include "belay/limits.h"

namespace belay {

Dependency::Waiter::~Waiter() {
  if (waits_) of_.queue_.remove(this);
}

void Dependency::Waiter::let_in(CircuitBreaker::Pass pass) {
  waits_ = false;
  slot.emplace(of_, pass);
  called.complete(Done{});
}

void Dependency::Waiter::send_away() {
  waits_ = false;
  called.complete(Done{});
}

std::optional<Dependency::Slot> Dependency::take() {
  if (!has_room()) return std::nullopt;
  auto pass = breaker_.enter(clock_.now());
  if (!pass) return std::nullopt;
  ++in_use_;
  return Slot(*this, *pass);
}

Error Dependency::is_open(std::chrono::milliseconds left) const {
  Error why = error(ErrorCode::unavailable, "Circuit breaker of dependency \"" + name_ +
                                                "\" is open for another " +
                                                std::to_string(left.count()) + " ms.");
  why.retry_after = left;
  return why;
}

Task<Result<Dependency::Slot>> Dependency::enter() {
  if (auto left = breaker_.open_duration(clock_.now())) co_return is_open(*left);
  // Takes a slot immediately only if no call waits: a new call must not overtake the queue.
  if (queue_.empty()) {
    if (auto slot = take()) co_return *std::move(slot);
  }
  if (queue_.size() >= options_.queue_max) {
    Error full = error(ErrorCode::unavailable, "Dependency \"" + name_ +
                                                   "\" is busy: " + std::to_string(queue_.size()) +
                                                   " other calls wait for it. Try again later.");
    full.retry_after = limits::busy_retry_after;
    co_return std::move(full);
  }
  Waiter waiter(*this);
  co_await waiter.called;
  if (waiter.slot) co_return *std::move(waiter.slot);
  co_return is_open(breaker_.open_duration(clock_.now()).value_or(limits::busy_retry_after));
}

void Dependency::leave(CircuitBreaker::Pass pass, Verdict verdict) {
  --in_use_;
  Instant now = clock_.now();
  bool was_open = breaker_.open_duration(now).has_value();
  breaker_.ended(pass, verdict, now);
  if (when_opened && !was_open && breaker_.open_duration(now)) when_opened();
  call_next();
}

// Gives free slots to waiting calls, in order; rejects all waiting calls if the circuit is open.
void Dependency::call_next() {
  bool is_open = breaker_.open_duration(clock_.now()).has_value();
  while (!queue_.empty()) {
    if (!is_open) {
      if (!has_room()) return;
      auto pass = breaker_.enter(clock_.now());
      if (!pass) return;
      ++in_use_;
      Waiter* next = queue_.front();
      queue_.pop_front();
      next->let_in(*pass);
    } else {
      Waiter* next = queue_.front();
      queue_.pop_front();
      next->send_away();
    }
  }
}

}  // namespace belay
