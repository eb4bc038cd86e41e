#pragma once
// belay/detail/task_promise.h - what belay/task.h is made of: promises, and what waits for them.

#include <chrono>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "belay/clock.h"

namespace belay {

template <typename T>
class Task;

namespace detail {

struct PromiseBase {
  Executor* executor = nullptr;
  std::coroutine_handle<> waiting_parent;  // set once the parent has really suspended
  std::exception_ptr thrown;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      // The parent may destroy this frame before resume() returns: touch nothing after it.
      if (auto parent = self.promise().waiting_parent) parent.resume();
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;

  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <typename T>
struct TaskAwaiter {
  std::coroutine_handle<Promise<T>> handle;
  bool await_ready() noexcept { return false; }
  // Runs the child here and now. One that ends without waiting never suspends its parent, so a
  // loop over such children needs no stack, whether or not the compiler makes tail calls.
  template <typename Parent>
  bool await_suspend(std::coroutine_handle<Parent> parent) {
    handle.promise().executor = parent.promise().executor;
    handle.resume();
    if (handle.done()) return false;
    handle.promise().waiting_parent = parent;
    return true;
  }
  // The task's value; rethrows what it threw.
  T await_resume() {
    if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
    return std::move(*handle.promise().value);
  }
};

// What several owners of one Completion share. The waiter registers and leaves on its executor's
// thread; complete() comes from any thread and posts while it holds the lock, so a waiter that has
// left is never resumed and its executor never used.
template <typename T>
struct CompletionState {
  std::mutex mutex;
  std::optional<T> value;
  std::coroutine_handle<> waiter;
  Executor* executor = nullptr;
};

template <typename T>
class CompletionAwaiter {
 public:
  using State = CompletionState<T>;

  explicit CompletionAwaiter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  CompletionAwaiter(const CompletionAwaiter&) = delete;
  CompletionAwaiter& operator=(const CompletionAwaiter&) = delete;
  ~CompletionAwaiter() {
    std::lock_guard lock(state_->mutex);
    state_->waiter = nullptr;
  }
  bool await_ready() {
    std::lock_guard lock(state_->mutex);
    return state_->value.has_value();
  }
  template <typename Waiter>
  bool await_suspend(std::coroutine_handle<Waiter> self) {
    std::lock_guard lock(state_->mutex);
    if (state_->value) return false;
    state_->waiter = self;
    state_->executor = self.promise().executor;
    return true;
  }
  T await_resume() {
    std::lock_guard lock(state_->mutex);
    return std::move(*state_->value);
  }

 private:
  std::shared_ptr<State> state_;
};

class SleepAwaiter {
 public:
  explicit SleepAwaiter(std::chrono::microseconds delay) : delay_(delay) {}
  SleepAwaiter(const SleepAwaiter&) = delete;
  SleepAwaiter& operator=(const SleepAwaiter&) = delete;
  ~SleepAwaiter() {
    if (executor_) executor_->cancel(timer_);
  }
  bool await_ready() const { return false; }
  template <typename Waiter>
  void await_suspend(std::coroutine_handle<Waiter> self) {
    executor_ = self.promise().executor;
    timer_ = executor_->call_after(delay_, [this, self] {
      executor_ = nullptr;
      self.resume();
    });
  }
  void await_resume() const {}

 private:
  std::chrono::microseconds delay_;
  Executor* executor_ = nullptr;
  Executor::TimerId timer_ = 0;
};

class ExecutorAwaiter {
 public:
  bool await_ready() const { return false; }
  template <typename Waiter>
  bool await_suspend(std::coroutine_handle<Waiter> self) {
    executor_ = self.promise().executor;
    return false;
  }
  Executor& await_resume() const { return *executor_; }

 private:
  Executor* executor_ = nullptr;
};

}  // namespace detail

}  // namespace belay
