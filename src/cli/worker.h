#pragma once
// cli/worker.h - what `worker` and `serve` have in common.

#include "cli/arguments.h"
#include "cli/world.h"

namespace belay::cli {

// Works on what waits in the store until the runtime is drained, delivers messages, and forgets
// from time to time what ended long ago. How many runs it took up.
Task<Result<std::size_t>> work_until_drained(World& world, Work wanted);

// The end of a command that works on runs, signal by signal.
class Shutdown {
 public:
  // Running nodes have `timeout` to end. `world` outlives it.
  Shutdown(World& world, std::chrono::milliseconds timeout) : world_(world), timeout_(timeout) {}

  // The first signal drains the runtime; a second one, or the end of the time, stops it.
  void take_signal();

  std::function<void()>
      when_stopped;  // what else is to end when the runtime is stopped; may be null

 private:
  void stop();

  World& world_;
  std::chrono::milliseconds timeout_;
  bool has_begun_ = false;
  bool has_stopped_ = false;
};

}  // namespace belay::cli
