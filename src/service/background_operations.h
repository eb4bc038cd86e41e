#pragma once
// service/background_operations.h - tasks that go on though nobody waits for them any more.
//
// Threading: the executor's thread. Destroying it stops what is still under way, where it waits.

#include <map>
#include <memory>

#include "belay/task.h"

namespace belay {

class BackgroundOperations {
 public:
  explicit BackgroundOperations(Executor& executor) : executor_(executor) {}
  BackgroundOperations(const BackgroundOperations&) = delete;
  BackgroundOperations& operator=(const BackgroundOperations&) = delete;

  // Starts the task, and waits for its value; who stops waiting does not stop it.
  template <typename T>
  Task<T> wait(Task<T> task) {
    Completion<T> completion;
    std::function<void(T)> told = [completion](T value) { completion.complete(std::move(value)); };
    start<T>(std::move(task), std::move(told));
    co_return co_await completion;
  }

  // Starts the task; `told` gets its value.
  template <typename T>
  void start(Task<T> task, std::function<void(T)> told = [](T) {}) {
    std::uint64_t number = next_++;
    std::weak_ptr<Tasks> tasks = tasks_;
    std::function<void(T)> done = [&executor = executor_, tasks, number,
                                   told = std::move(told)](T value) {
      told(std::move(value));
      // Not from inside of it: the task itself is among what is forgotten.
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
