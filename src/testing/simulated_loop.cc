#include "belay/testing.h"

namespace belay::testing {

std::uint64_t SeededRandom::bits() {
  // SplitMix64 (Steele, Lea, Flood 2014).
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t bits = state_;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

void SimulatedLoop::post(Work work) { posted_.push_back(std::move(work)); }

Executor::TimerId SimulatedLoop::call_after(std::chrono::microseconds delay, Work work) {
  TimerId id = next_timer_++;
  timers_.emplace(std::pair(clock_.now() + delay, id), std::move(work));
  return id;
}

void SimulatedLoop::cancel(TimerId timer) {
  for (auto each = timers_.begin(); each != timers_.end(); ++each) {
    if (each->first.second != timer) continue;
    timers_.erase(each);
    return;
  }
}

bool SimulatedLoop::offload(Work work) {
  posted_.push_back(std::move(work));
  return true;
}

bool SimulatedLoop::step() {
  if (posted_.empty()) {
    if (timers_.empty() || timers_.begin()->first.first > clock_.now()) return false;
    auto due = timers_.extract(timers_.begin());
    due.mapped()();
    return true;
  }
  Work work = std::move(posted_.front());
  posted_.pop_front();
  work();
  return true;
}

bool SimulatedLoop::advance_to_next_timer(Instant until) {
  if (timers_.empty()) return false;
  Instant due = timers_.begin()->first.first;
  if (due > until) return false;
  if (due > clock_.now()) clock_.move(due - clock_.now());
  return true;
}

void SimulatedLoop::run() { run_until(Instant::max()); }

void SimulatedLoop::run_until(Instant until) {
  stopped_ = false;
  while (!stopped_) {
    if (step()) continue;
    if (!advance_to_next_timer(until)) break;
  }
  if (!stopped_ && until != Instant::max() && until > clock_.now()) {
    clock_.move(until - clock_.now());
  }
  stopped_ = false;
}

}  // namespace belay::testing
