#pragma once
// server/wait.h - Waiting: waits for a coroutine, for a limited time.
//
// An operation that has started continues without the request; a mere wait ends with it.

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>

#include "service/background_operations.h"

namespace belay::server {

class Waiting {
 public:
  explicit Waiting(Executor& executor) : executor_(executor), tasks_(executor) {}

  // A coroutine that continues independently of the requests that wait for it.
  template <typename T>
  struct Begun {
    std::optional<T> value;  // set when it has ended
    Completion<Done> ended;  // for the current waiter
  };

  template <typename T>
  std::shared_ptr<Begun<T>> begin(Task<T> task) {
    auto begun = std::make_shared<Begun<T>>();
    std::function<void(T)> told = [begun](T value) {
      begun->value.emplace(std::move(value));
      begun->ended.complete(Done{});
    };
    tasks_.start<T>(std::move(task), std::move(told));
    return begun;
  }

  // Waits until it has ended or `limit` has passed. Returns true if it has ended. One waiter at a
  // time.
  template <typename T>
  Task<bool> wait(std::shared_ptr<Begun<T>> begun, std::chrono::milliseconds limit) {
    if (begun->value) co_return true;
    begun->ended = Completion<Done>();
    Completion<Done> woken = begun->ended;
    auto timer = executor_.call_after(within_end(limit), [woken] { woken.complete(Done{}); });
    Waiter waiter(waiters_, woken);
    co_await woken;
    executor_.cancel(timer);
    co_return begun->value.has_value();
  }

  // Returns the result of the coroutine; nullopt when `limit` has passed: the coroutine then
  // continues.
  template <typename T>
  Task<std::optional<T>> at_most(std::chrono::milliseconds limit, Task<T> task) {
    auto begun = begin<T>(std::move(task));
    if (!co_await wait(begun, limit)) co_return std::optional<T>();
    co_return std::move(begun->value);
  }

  // Returns the result of the coroutine; nullopt when `limit` has passed: the coroutine is then
  // destroyed.
  template <typename T>
  Task<std::optional<T>> within(std::chrono::milliseconds limit, Task<T> task) {
    std::optional<T> value;
    Completion<Done> woken;
    auto timer = executor_.call_after(within_end(limit), [woken] { woken.complete(Done{}); });
    Waiter waiter(waiters_, woken);
    std::function<void(T)> told = [&value, woken](T result) {
      value.emplace(std::move(result));
      woken.complete(Done{});
    };
    Spawned running = spawn<T>(executor_, std::move(task), std::move(told));
    co_await woken;
    executor_.cancel(timer);
    running.reset();
    co_return std::move(value);
  }

  // All present waits end as if their time had passed, and later ones take at most kLastWait: no
  // run is executed here any more.
  void end() {
    is_ending_ = true;
    const Waiters present = *waiters_;
    for (const Completion<Done>& each : present) each.complete(Done{});
  }

 private:
  static constexpr std::chrono::milliseconds kLastWait{20};
  using Waiters = std::list<Completion<Done>>;

  // In the list as long as the wait. The coroutine can be destroyed after this object.
  class Waiter {
   public:
    Waiter(std::shared_ptr<Waiters> all, Completion<Done> woken)
        : all_(std::move(all)), place_(all_->insert(all_->end(), std::move(woken))) {}
    ~Waiter() { all_->erase(place_); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    std::shared_ptr<Waiters> all_;
    Waiters::iterator place_;
  };

  std::chrono::milliseconds within_end(std::chrono::milliseconds limit) const {
    return is_ending_ ? std::min(limit, kLastWait) : limit;
  }

  Executor& executor_;
  BackgroundOperations tasks_;
  const std::shared_ptr<Waiters> waiters_ = std::make_shared<Waiters>();
  bool is_ending_ = false;
};

}  // namespace belay::server
