#pragma once
// cli/worker.h - the functions that `worker` and `serve` share.

#include "cli/arguments.h"
#include "cli/command_context.h"

namespace belay::cli {

// Executes runs of the store until the runtime is drained, delivers messages, and prunes old
// threads periodically. Returns the number of runs that it has claimed.
Task<Result<std::size_t>> work_until_drained(CommandContext& world, Work wanted);

// Shuts down a command that executes runs, one step for each signal.
class Shutdown {
 public:
  // Running nodes have `timeout` to complete. `world` must outlive the object.
  Shutdown(CommandContext& world, std::chrono::milliseconds timeout)
      : world_(world), timeout_(timeout) {}

  // The first signal drains the runtime; a second one, or the end of the timeout, stops it.
  void take_signal();

  std::function<void()>
      when_stopped;  // ends the command's other work when the runtime is stopped; may be null

 private:
  void stop();

  CommandContext& world_;
  std::chrono::milliseconds timeout_;
  bool has_started_ = false;
  bool has_stopped_ = false;
};

}  // namespace belay::cli
