#pragma once
// belay/task.h - Task<T>, the handle of a lazy coroutine, and functions that start coroutines.
//
// A Task starts when it is awaited (or spawned) and resumes on the executor of the coroutine that
// awaits it. A function that can wait returns a Task; no callbacks, no second "async" name.
// Destroying an unfinished Task destroys its frame and all that it waits for.
//
// Rule for GCC 12: inside a co_await expression it destroys temporaries of aggregates, lambdas and
// ?: twice, without a warning. Name the argument first, then move it in:
//     auto options = ReadOptions{.limit = 5};
//     auto rows = co_await read(std::move(options));
// `make tidy` rejects the forms that break. With -O2, GCC 12 also needs -fno-tree-slp-vectorize
// (belay::belay and belay.pc have it): its vectorizer can read a frame's vector before it is
// loaded.

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "belay/clock.h"
#include "belay/detail/task_promise.h"
#include "belay/result.h"

namespace belay {

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

  // Await it only once; the Task must live until then.
  detail::TaskAwaiter<T> operator co_await() noexcept { return {handle_}; }

  // Starts the coroutine on the calling thread, which must be the executor's. For spawn().
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

}  // namespace detail

// A value that is set once, from another thread or a callback: the bridge from code without
// coroutines. Copies share it. Only one coroutine can wait for it.
template <typename T>
class Completion {
 public:
  using State = detail::CompletionState<T>;

  Completion() : state_(std::make_shared<State>()) {}

  // Sets the value. From any thread; only the first call counts.
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

  // Waits for the value; in one coroutine only.
  detail::CompletionAwaiter<T> operator co_await() const {
    return detail::CompletionAwaiter<T>(state_);
  }

 private:
  std::shared_ptr<State> state_;
};

// Waits for at least `delay`, on a timer of the executor.
inline detail::SleepAwaiter sleep_for(std::chrono::microseconds delay) {
  return detail::SleepAwaiter(delay);
}

// Returns the executor of the awaiting coroutine.
inline detail::ExecutorAwaiter this_executor() { return detail::ExecutorAwaiter(); }

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

// A coroutine that was started by code that does not await it. Destroying it stops the coroutine
// where it waits; destroy it on the executor's thread, and never from inside `done`.
using Spawned = std::optional<Task<Done>>;

// Starts `task` immediately, on the calling thread, which must be the executor's. `done` is called
// with its value at the end, on that thread. A coroutine that throws ends the process: return
// errors as a Result.
template <typename T>
Spawned spawn(Executor& executor, Task<T> task, std::function<void(T)> done) {
  Spawned spawned(detail::root_task<T>(std::move(task), std::move(done)));
  spawned->start_on(executor);
  return spawned;
}

// Runs the loop on this thread until `task` has ended and returns its value. For main() and tests.
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

// Runs a plain function on the executor's blocking pool and waits for its result. The function must
// not throw and must own the data that it uses: the waiting coroutine might be destroyed before it
// ends. Fails with `unavailable` if the pool's queue is full.
template <typename T>
Task<Result<T>> on_blocking_pool(std::function<Result<T>()> work) {
  Executor& executor = co_await this_executor();
  Completion<Result<T>> completion;
  bool accepted =
      executor.offload([completion, work = std::move(work)] { completion.complete(work()); });
  if (!accepted) {
    co_return error(ErrorCode::unavailable,
                    "The pool for blocking calls is full. Try again later.");
  }
  co_return co_await completion;
}

}  // namespace belay
