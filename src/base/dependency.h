#pragma once
// base/dependency.h - protects an external system: limits its concurrent uses, queues further ones
// in order, and rejects uses while its circuit is open.
//
// Threading: the executor's thread. Must outlive its slots and the coroutines that wait for one.

#include <functional>
#include <list>
#include <string>

#include "base/circuit_breaker.h"
#include "belay/task.h"

namespace belay {

class Dependency {
 public:
  using Verdict = CircuitBreaker::Verdict;

  // A use in progress. If it is destroyed without a call of ended(), that counts as
  // Verdict::unknown.
  class Slot {
   public:
    Slot() = default;
    Slot(Dependency& of, CircuitBreaker::Pass pass) : of_(&of), pass_(pass) {}
    Slot(Slot&& other) noexcept : of_(std::exchange(other.of_, nullptr)), pass_(other.pass_) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(pass_, other.pass_);
      return *this;
    }
    ~Slot() { ended(Verdict::unknown); }
    void ended(Verdict verdict) {
      if (of_) std::exchange(of_, nullptr)->leave(pass_, verdict);
    }

   private:
    Dependency* of_ = nullptr;
    CircuitBreaker::Pass pass_;
  };

  Dependency(std::string name, DependencyOptions options, Clock& clock)
      : name_(std::move(name)), options_(options), breaker_(options), clock_(clock) {}
  Dependency(const Dependency&) = delete;
  Dependency& operator=(const Dependency&) = delete;

  // Waits for a slot, in the order of the calls. Fails with `unavailable` and a retry_after if the
  // circuit is open, if it opens during the wait, or if queue_max calls already wait. Destroying
  // the coroutine removes it from the queue.
  Task<Result<Slot>> enter();

  // Records that another process has opened its circuit for this dependency.
  void warn() { breaker_.warn(); }
  // Called when a failure has opened the circuit; can be null.
  std::function<void()> when_opened = nullptr;

  const std::string& name() const { return name_; }
  const DependencyOptions& options() const { return options_; }
  std::size_t in_use() const { return in_use_; }
  std::size_t waiting() const { return queue_.size(); }

 private:
  // A waiting call; stored in the coroutine frame of enter().
  class Waiter {
   public:
    explicit Waiter(Dependency& of) : of_(of) { of_.queue_.push_back(this); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter();
    void let_in(CircuitBreaker::Pass pass);
    void send_away();
    Completion<Done> called;
    std::optional<Slot> slot;  // unset if the circuit opened during the wait

   private:
    Dependency& of_;
    bool waits_ = true;
  };

  bool has_room() const {
    return options_.concurrency_max == 0 || in_use_ < options_.concurrency_max;
  }
  std::optional<Slot> take();
  void leave(CircuitBreaker::Pass pass, Verdict verdict);
  void call_next();
  Error is_open(std::chrono::milliseconds left) const;

  std::string name_;
  DependencyOptions options_;
  CircuitBreaker breaker_;
  Clock& clock_;
  std::size_t in_use_ = 0;
  std::list<Waiter*> queue_;
};

}  // namespace belay
