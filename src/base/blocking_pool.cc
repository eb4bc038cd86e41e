#include "base/blocking_pool.h"

#include <algorithm>

#include "base/start_thread.h"
#include "belay/limits.h"

namespace belay {

BlockingPool::BlockingPool(std::size_t threads_max)
    : threads_max_(std::clamp<std::size_t>(threads_max, 1, limits::blocking_threads_max)) {}

BlockingPool::~BlockingPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool BlockingPool::submit(Executor::Work work) {
  std::lock_guard lock(mutex_);
  if (queue_.size() >= limits::blocking_queue_max) return false;
  queue_.push_back(std::move(work));
  if (idle_ == 0 && threads_.size() < threads_max_) {
    threads_.push_back(start_thread([this] { serve(); }));
  }
  changed_.notify_one();
  return true;
}

void BlockingPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    Executor::Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace belay
