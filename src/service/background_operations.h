#pragma once
// service/background_operations.h - BackgroundOperations: coroutines that continue when no caller
// waits for them any more.
//
// Threading: the executor's thread. The destructor cancels the coroutines that are still running,
// at the point where they are suspended.

#include <map>
#include <memory>

#include "belay/task.h"

namespace belay {

class BackgroundOperations {
 public:
  explicit BackgroundOperations(Executor& executor) : executor_(executor) {}
  BackgroundOperations(const BackgroundOperations&) = delete;
  BackgroundOperations& operator=(const BackgroundOperations&) = delete;

  // Starts the coroutine and waits for its result. Destroying the wait does not stop it.
  template <typename T>
  Task<T> wait(Task<T> task) {
    Completion<T> completion;
    std::function<void(T)> on_result = [completion](T value) {
      completion.complete(std::move(value));
    };
    start<T>(std::move(task), std::move(on_result));
    co_return co_await completion;
  }

  // Starts the coroutine; `on_result` receives its result.
  template <typename T>
  void start(Task<T> task, std::function<void(T)> on_result = [](T) {}) {
    std::uint64_t number = next_++;
    std::weak_ptr<Tasks> tasks = tasks_;
    std::function<void(T)> done = [&executor = executor_, tasks, number,
                                   on_result = std::move(on_result)](T value) {
      on_result(std::move(value));
      // Posted: erasing destroys the coroutine, and its code is still running here.
      executor.post([tasks, number] {
        if (auto held = tasks.lock()) held->erase(number);
      });
    };
    Spawned started = spawn<T>(executor_, std::move(task), std::move(done));
    tasks_->emplace(number, std::move(started));
  }

 private:
  using Tasks = std::map<std::uint64_t, Spawned>;

  Executor& executor_;
  std::uint64_t next_ = 1;
  std::shared_ptr<Tasks> tasks_ = std::make_shared<Tasks>();
};

}  // namespace belay
