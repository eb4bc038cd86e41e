#pragma once
// base/executor_timer.h - a timer that ends with its owner, such as a coroutine that is destroyed
// while it waits.

#include <chrono>
#include <utility>

#include "belay/clock.h"

namespace belay {

// Calls `work` once on the executor, unless it is destroyed before. On the executor's thread only.
class ExecutorTimer {
 public:
  ExecutorTimer(Executor& executor, std::chrono::milliseconds delay, Executor::Work work)
      : executor_(executor), id_(executor.call_after(delay, std::move(work))) {}
  ~ExecutorTimer() { executor_.cancel(id_); }
  ExecutorTimer(const ExecutorTimer&) = delete;
  ExecutorTimer& operator=(const ExecutorTimer&) = delete;

 private:
  Executor& executor_;
  Executor::TimerId id_;
};

}  // namespace belay
