#pragma once
// base/blocking_pool.h - the threads behind Executor::offload().

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "belay/clock.h"

namespace belay {

// Runs blocking calls on its own threads, which start when first needed. The destructor runs the
// queued work and joins the threads. Queued work can post to its executor: the pool must be the
// last member of the event loop that it serves.
class BlockingPool {
 public:
  explicit BlockingPool(std::size_t threads_max);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool();

  // Returns false, and does not run `work`, if limits::blocking_queue_max calls are already queued.
  // Can be called from any thread.
  bool submit(Executor::Work work);

 private:
  void serve();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Executor::Work> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace belay
