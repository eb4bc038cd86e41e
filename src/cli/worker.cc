// `belay worker`: executes the runs of the store until a signal arrives.

#include "cli/worker.h"
#include "belay/storage.h"
#include "cli/commands.h"

namespace belay::cli {
namespace {

constexpr std::chrono::hours kBetweenPrunings{1};

Task<Result<Done>> prune_once(CommandContext& world, std::chrono::hours retention) {
  RetentionPolicy policy;
  policy.keep_finished = retention;
  auto done = co_await world.service.prune(policy);
  if (!done.ok()) co_return std::move(done).error();
  co_return Done{};
}

// A failed pruning does not end the worker: it is reported, and tried again later.
Task<Done> prune_from_time_to_time(CommandContext& world, std::chrono::hours retention) {
  while (true) {
    auto pruned = co_await prune_once(world, retention);
    if (!pruned.ok()) world.output.progress(pruned.error().message);
    co_await sleep_for(kBetweenPrunings);
  }
}

}  // namespace

Task<Result<std::size_t>> work_until_drained(CommandContext& world, Work wanted) {
  WorkerOptions options;
  options.tenant = tenant_of(world);
  options.runs_max = wanted.runs_max;
  options.until_idle = wanted.until_idle;
  options.queues = wanted.queues;
  // Only workers deliver: other commands could end before a receiver has returned.
  for (const auto& [topic, receiver] : world.program.receivers) {
    world.local->runtime.deliver(topic, receiver);
  }
  Spawned pruning;
  if (wanted.retention && !wanted.until_idle) {
    auto task = prune_from_time_to_time(world, *wanted.retention);
    std::function<void(Done)> never = [](Done) {};
    pruning = spawn<Done>(world.executor, std::move(task), std::move(never));
  }
  options.on_error = [&world, told = std::string()](const Error& why) mutable {
    if (std::exchange(told, why.message) != why.message) world.output.progress(why.message);
  };
  auto count = co_await world.local->runtime.run_worker(std::move(options));
  pruning.reset();
  co_return std::move(count);
}

void Shutdown::take_signal() {
  if (std::exchange(has_started_, true) || timeout_.count() == 0) return stop();
  world_.output.progress(
      format_message(world_.phrases.shutting_down, {{"time", span_text(timeout_)}}));
  world_.local->runtime.drain();
  // The timer fires only while the loop runs; the context outlives that.
  world_.executor.call_after(timeout_, [this] { stop(); });
}

void Shutdown::stop() {
  if (std::exchange(has_stopped_, true)) return;
  world_.output.progress(world_.phrases.stopping);
  world_.local->runtime.stop();
  if (when_stopped) when_stopped();
}

Task<CommandResult> run_worker_command(CommandContext& world, Work wanted) {
  Shutdown shutdown(world, wanted.drain_timeout);
  world.local->when_stopped = [&shutdown] { shutdown.take_signal(); };
  world.progress.name_threads();
  if (!wanted.until_idle) world.output.progress(world.phrases.worker_started);
  BELAY_CO_TRY(std::size_t count, co_await work_until_drained(world, wanted));
  world.output.progress(format_message(world.phrases.processed, {{"n", std::to_string(count)}}));
  world.output.document(Value::object({{"processed", count}, {"takenUp", count}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
