#include <condition_variable>
#include <deque>
#include <map>

#include "base/blocking_pool.h"
#include "belay/task.h"

namespace belay {
namespace {

using MonotonicTime = std::chrono::steady_clock::time_point;

class ThreadEventLoop final : public EventLoop {
 public:
  explicit ThreadEventLoop(std::size_t blocking_threads) : pool_(blocking_threads) {}

  void post(Work work) override {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    // Notifies while the lock is held: as soon as run() has returned because of stop(), the loop
    // can be destroyed.
    if (sleeping_) changed_.notify_one();
  }

  TimerId call_after(std::chrono::microseconds delay, Work work) override {
    TimerId id = next_timer_++;
    auto place =
        timers_.emplace(std::pair(std::chrono::steady_clock::now() + delay, id), std::move(work));
    due_times_.emplace(id, place.first->first.first);
    return id;
  }

  void cancel(TimerId timer) override {
    auto found = due_times_.find(timer);
    if (found == due_times_.end()) return;
    timers_.erase(std::pair(found->second, timer));
    due_times_.erase(found);
  }

  bool offload(Work work) override { return pool_.submit(std::move(work)); }

  void run() override {
    while (true) {
      if (!take_posted()) return;
      while (!ready_.empty()) {
        Work work = std::move(ready_.front());
        ready_.pop_front();
        work();
      }
      fire_due_timers();
    }
  }

  void stop() override {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }

 private:
  // Waits until work is posted, a timer is due or stop() is called, then moves the posted work to
  // ready_. Returns false if the loop was stopped.
  bool take_posted() {
    std::unique_lock lock(mutex_);
    auto something = [this] { return stopped_ || !posted_.empty(); };
    sleeping_ = true;
    if (timers_.empty()) {
      changed_.wait(lock, something);
    } else {
      changed_.wait_until(lock, timers_.begin()->first.first, something);
    }
    sleeping_ = false;
    if (stopped_) {
      stopped_ = false;
      return false;
    }
    ready_.swap(posted_);
    return true;
  }

  void fire_due_timers() {
    MonotonicTime now = std::chrono::steady_clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
      auto node = timers_.extract(timers_.begin());
      due_times_.erase(node.key().second);
      node.mapped()();
    }
  }

  // Used only by the thread that calls run().
  std::map<std::pair<MonotonicTime, TimerId>, Work> timers_;
  std::map<TimerId, MonotonicTime> due_times_;
  std::deque<Work> ready_;
  TimerId next_timer_ = 1;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Work> posted_;
  bool sleeping_ = false;
  bool stopped_ = false;

  BlockingPool pool_;  // last: its threads can still post while it is being destroyed
};

}  // namespace

std::unique_ptr<EventLoop> make_event_loop(std::size_t blocking_threads) {
  return std::make_unique<ThreadEventLoop>(blocking_threads);
}

}  // namespace belay
