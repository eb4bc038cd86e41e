#pragma once
// server/wait.h - waits for something no longer than a time, and lets it go on.

#include "service/detached.h"

namespace belay::server {

class Waiting {
 public:
  explicit Waiting(Executor& executor) : executor_(executor), tasks_(executor) {}

  // The task's value, or nothing once `limit` has passed: then it goes on by itself.
  template <typename T>
  Task<std::optional<T>> at_most(std::chrono::milliseconds limit, Task<T> task) {
    Completion<std::optional<T>> first;
    auto timer = executor_.call_after(limit, [first] { first.complete(std::nullopt); });
    auto whole = report<T>(std::move(task), first);
    tasks_.start(std::move(whole));
    auto value = co_await first;
    executor_.cancel(timer);
    co_return std::move(value);
  }

 private:
  template <typename T>
  static Task<Done> report(Task<T> task, Completion<std::optional<T>> first) {
    std::optional<T> value(co_await task);
    first.complete(std::move(value));
    co_return Done{};
  }

  Executor& executor_;
  Detached tasks_;
};

}  // namespace belay::server
