#pragma once
// belay/executor.h - where tasks run and timers fire, as an interface.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace belay {

// One thread at a time, in the order posted. Hand in your own to
// put Belay on an existing event loop.
class Executor {
 public:
  using Work = std::function<void()>;
  using TimerId = std::uint64_t;

  virtual ~Executor() = default;
  // Runs `work` soon, never inside this call. From any thread.
  virtual void post(Work work) = 0;
  // Runs `work` once, no sooner than `delay` from now. On the executor's thread only.
  virtual TimerId call_after(std::chrono::microseconds delay, Work work) = 0;
  // The timer will not fire; nothing happens if it has. On the executor's thread only.
  virtual void cancel(TimerId timer) = 0;
  // Runs `work` on the bounded pool for code that blocks. False, and nothing ran, when the pool's
  // queue is full (limits::blocking_queue_max). From any thread.
  virtual bool offload(Work work) = 0;
};

// The real executor: a loop for one thread, with its own timers and blocking pool.
class EventLoop : public Executor {
 public:
  // Runs until stop() has been called; what is posted later waits for the next run().
  virtual void run() = 0;
  virtual void stop() = 0;  // from any thread
};
std::unique_ptr<EventLoop> make_event_loop();

}  // namespace belay
