#pragma once
// replay/immediate_timers.h - an executor without delays, for the nodes of a replay.
//
// A timer fires as soon as the work that was posted before has run, the earliest due time first.

#include <map>
#include <memory>

#include "belay/clock.h"

namespace belay {

class ImmediateTimers final : public Executor {
 public:
  explicit ImmediateTimers(Executor& inner) : inner_(inner) {}

  void post(Work work) override { inner_.post(std::move(work)); }
  bool offload(Work work) override { return inner_.offload(std::move(work)); }
  TimerId call_after(std::chrono::microseconds delay, Work work) override {
    TimerId id = ++timers_->last;
    auto due = std::pair(timers_->now + delay, id);
    timers_->waiting.emplace(due, std::move(work));
    inner_.post([timers = std::weak_ptr(timers_)] { fire(timers); });
    return id;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_->waiting,
                  [timer](const auto& each) { return each.first.second == timer; });
  }

 private:
  struct Timers {
    std::chrono::microseconds now{};
    TimerId last = 0;
    std::map<std::pair<std::chrono::microseconds, TimerId>, Work> waiting;
  };

  static void fire(const std::weak_ptr<Timers>& kept) {
    auto timers = kept.lock();
    if (!timers || timers->waiting.empty()) return;
    auto first = timers->waiting.extract(timers->waiting.begin());
    timers->now = first.key().first;
    first.mapped()();
  }

  Executor& inner_;
  std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
};

}  // namespace belay
