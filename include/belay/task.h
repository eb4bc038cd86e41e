#pragma once
// belay/task.h - Task<T>: what a function that may wait returns.
//
// A Task is lazy: it starts when awaited (or spawned) and resumes on the executor of whoever awaits
// it. The return type is the only marker of waiting: no callbacks, no second "async" name.
// Destroying a Task that has not finished destroys its frame and everything that it waits for.
//
// Rule for GCC 12: inside a co_await expression it destroys temporaries of aggregates, lambdas and
// ?: twice, without a warning. Name the argument first, then move it in:
//     auto options = ReadOptions{.limit = 5};
//     auto rows = co_await read(std::move(options));
// `make tidy` looks for the forms that break.

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "belay/executor.h"
#include "belay/result.h"

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

}  // namespace detail

template <typename T = Done>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  struct Awaiter {
    Handle handle;
    bool await_ready() noexcept { return false; }
    // Runs the child here and now. One that ends without waiting never suspends its parent, so a
    // loop over such children needs no stack, whether or not the compiler makes tail calls.
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
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
  // Await it once; the Task outlives the wait.
  Awaiter operator co_await() noexcept { return Awaiter{handle_}; }

  // Starts the task on the calling thread, which must be the executor's. For spawn().
  void start_on(Executor& executor) {
    handle_.promise().executor = &executor;
    handle_.resume();
  }

 private:
  Handle handle_;
};

namespace detail {

template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}

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

}  // namespace detail

// A value that arrives once, from another thread or from a callback: the bridge from code that
// knows no coroutines. Copies share it. One task may wait for it.
template <typename T>
class Completion {
 public:
  using State = detail::CompletionState<T>;

  Completion() : state_(std::make_shared<State>()) {}

  // Delivers the value. From any thread; only the first call counts.
  void complete(T value) const {
    std::lock_guard lock(state_->mutex);
    if (state_->value) return;
    state_->value.emplace(std::move(value));
    if (!state_->waiter) return;
    state_->executor->post([state = state_] {
      std::coroutine_handle<> waiter;
      {
        std::lock_guard relock(state->mutex);
        waiter = std::exchange(state->waiter, nullptr);
      }
      if (waiter) waiter.resume();
    });
  }

  class Awaiter {
   public:
    explicit Awaiter(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    ~Awaiter() {
      std::lock_guard lock(state_->mutex);
      state_->waiter = nullptr;
    }
    bool await_ready() {
      std::lock_guard lock(state_->mutex);
      return state_->value.has_value();
    }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
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
  Awaiter operator co_await() const { return Awaiter(state_); }

 private:
  std::shared_ptr<State> state_;
};

// Waits on the executor's timer; at least `delay`.
class sleep_for {
 public:
  explicit sleep_for(std::chrono::microseconds delay) : delay_(delay) {}
  sleep_for(const sleep_for&) = delete;
  sleep_for& operator=(const sleep_for&) = delete;
  ~sleep_for() {
    if (executor_) executor_->cancel(timer_);
  }
  bool await_ready() const { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) {
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

// The executor that the awaiting task runs on.
class this_executor {
 public:
  bool await_ready() const { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    executor_ = self.promise().executor;
    return false;
  }
  Executor& await_resume() const { return *executor_; }

 private:
  Executor* executor_ = nullptr;
};

namespace detail {
[[noreturn]] void task_threw(std::exception_ptr thrown);
template <typename T>
Task<Done> root_task(Task<T> task, std::function<void(T)> done) {
  std::optional<T> value;
  std::exception_ptr thrown;
  try {
    value.emplace(co_await task);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) task_threw(thrown);
  done(std::move(*value));
  co_return Done{};
}
}  // namespace detail

// A task set going by code that does not await it. Destroying it stops the task where it waits;
// destroy it on the executor's thread, and never from inside `done`.
using Spawned = std::optional<Task<Done>>;

// Starts `task` at once, on the calling thread, which must be the executor's. `done` gets its value
// at the end, on that thread. A spawned task returns its errors; one that throws ends the process.
template <typename T>
Spawned spawn(Executor& executor, Task<T> task, std::function<void(T)> done) {
  Spawned spawned(detail::root_task<T>(std::move(task), std::move(done)));
  spawned->start_on(executor);
  return spawned;
}

// Runs the loop on this thread until `task` has ended, and returns its value. For main() and tests.
template <typename T>
T block_on(EventLoop& loop, Task<T> task) {
  std::optional<T> result;
  Spawned running;
  loop.post([&] {
    running = spawn<T>(loop, std::move(task), [&](T value) {
      result.emplace(std::move(value));
      loop.stop();
    });
  });
  loop.run();
  return std::move(*result);
}

// Runs a plain function on the executor's blocking pool and waits for what it returns. The
// function must not throw and must own what it uses: the waiting task may be gone before it ends.
// Fails with `unavailable` when the pool's queue is full.
template <typename T>
Task<Result<T>> on_blocking_pool(std::function<Result<T>()> work) {
  Executor& executor = co_await this_executor();
  Completion<Result<T>> completion;
  bool accepted =
      executor.offload([completion, work = std::move(work)] { completion.complete(work()); });
  if (!accepted) {
    co_return error(ErrorCode::unavailable, "The pool for blocking calls is full; try again.");
  }
  co_return co_await completion;
}

}  // namespace belay
