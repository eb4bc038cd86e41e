#pragma once
// base/blocking_pool.h - the threads behind Executor::offload().

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "belay/clock.h"

namespace belay {

// Threads that run blocking calls: started when first needed, limits::blocking_threads_max at the
// most. The destructor runs what is queued and joins them; work that reaches an executor keeps that
// alive until then, so it is the last member of the loop that it serves.
class BlockingPool {
 public:
  BlockingPool() = default;
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool();

  // False, and nothing will run, when limits::blocking_queue_max wait already. From any thread.
  bool submit(Executor::Work work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::deque<Executor::Work> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace belay
