#pragma once
// events/completion_timer.h - a timer that completes a Completion.
//
// Unlike a timer id, it is cancelled when it is destroyed: a waiting coroutine can be destroyed at
// any time.

#include "belay/task.h"

namespace belay {

class CompletionTimer {
 public:
  CompletionTimer(Executor& executor, std::chrono::milliseconds delay, Completion<Done> completion)
      : executor_(executor),
        id_(executor.call_after(delay, [completion] { completion.complete(Done{}); })) {}
  CompletionTimer(const CompletionTimer&) = delete;
  CompletionTimer& operator=(const CompletionTimer&) = delete;
  ~CompletionTimer() { executor_.cancel(id_); }

 private:
  Executor& executor_;
  Executor::TimerId id_;
};

}  // namespace belay
