#pragma once
// cli/worker.h - the functions that `worker` and `serve` share.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "belay/command.h"
#include "belay/runtime.h"
#include "cli/command_context.h"

namespace belay::cli {

// The options of a command that executes queued runs.
struct Work {
  std::size_t runs_max = WorkerOptions{}.runs_max;
  std::vector<std::string> queues = {};  // empty: all
  // Override the limits of the settings; 0: unlimited.
  std::optional<std::uint64_t> per_user = std::nullopt, per_key = std::nullopt,
                               per_queue = std::nullopt;
  std::optional<std::string> name = std::nullopt;  // overrides the settings
  bool until_idle = false;
  bool has_several_users = false;         // it serves users who share its limits
  std::vector<std::string> modules = {};  // to load on request: see Module::on_request
  std::string retention_text = "30d";
  std::string drain_text = "30s";
  // Parsed from the texts above by complete_work().
  std::optional<std::chrono::hours> retention = std::nullopt;  // unset: keep forever
  std::chrono::milliseconds drain_timeout{30'000};             // 0: abandon running nodes
};

void declare_name_of_worker(CommandWords& words, Work& work);
void declare_drain_timeout(CommandWords& words, Work& work);
void declare_retention(CommandWords& words, Work& work);
// Fails with `invalid` for an invalid option.
Result<Done> complete_work(Work& work);

// Makes the receivers of the program, and registers them with the runtime. To be called once,
// before work_until_drained(). Fails with the error of a module, or if two receivers have one
// topic.
Result<Done> register_receivers(CommandContext& world);

// Executes runs of the store until the runtime is drained, delivers messages, starts the runs of
// the program's schedules, and prunes old threads periodically. Returns the number of runs that it
// has claimed.
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
