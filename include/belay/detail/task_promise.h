#pragma once
// belay/detail/task_promise.h - promises and awaiters, for belay/task.h.

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
  std::coroutine_handle<> waiting_parent;  // set only after the parent has suspended
  std::exception_ptr thrown;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      // The parent can destroy this frame before resume() returns: access nothing after it.
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
  template <typename U = T>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <typename T>
struct TaskAwaiter {
  std::coroutine_handle<Promise<T>> handle;
  bool await_ready() noexcept { return false; }
  // Runs the child immediately. A child that ends without waiting never suspends its parent:
  // therefore a loop over such children does not consume stack, with or without tail calls.
  template <typename Parent>
  bool await_suspend(std::coroutine_handle<Parent> parent) {
    handle.promise().executor = parent.promise().executor;
    handle.resume();
    if (handle.done()) return false;
    handle.promise().waiting_parent = parent;
    return true;
  }
  // Returns the coroutine's value or rethrows its exception.
  T await_resume() {
    if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
    return std::move(*handle.promise().value);
  }
};

// The shared state of a Completion's copies. The waiter registers and unregisters on its executor's
// thread. complete() is called on any thread and posts while it holds the lock: an unregistered
// waiter is never resumed, and its executor, which might be destroyed by then, is never used.
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
