// `belay worker`: executes the runs of the store until a signal arrives.

#include "cli/worker.h"

#include <algorithm>

#include "belay/storage.h"
#include "cli/code_gone_alarm.h"
#include "cli/command_list.h"
#include "cli/shared_options.h"
#include "scheduler/scheduler.h"
#include "usage/usage_flush.h"

namespace belay::cli {
namespace {

constexpr const char* kWorkerHelp =
    R"(Claims queued and orphaned runs, and processes due timers, retries and expired approvals.
Several workers can share a store; each run is executed by one of them. SIGTERM and Ctrl-C: the
worker claims nothing more, and releases its runs to their queues at their next commit; a second
signal ends it immediately, which loses no commit either. Once an hour it deletes threads that ended
long ago (--retention), as {p} store prune does.

Examples:
  {p} worker
  {p} worker --max-runs 4
  {p} worker --until-idle         # in a script: exit when no run is claimable
)";

constexpr std::size_t kRunsOfWorkerMax = 1'000;
constexpr std::chrono::hours kBetweenPrunings{1};

Task<Result<Done>> prune_once(CommandContext& world, std::chrono::hours retention) {
  RetentionPolicy policy;
  policy.keep_finished = retention;
  auto done = co_await world.service.prune(world.who, policy);
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

// Adds the ended runs of all processes to the totals of their agents. A failure is reported once,
// and the next call adds what this one has not.
class UsageFlushes {
 public:
  explicit UsageFlushes(CommandContext& world) : world_(world) {}

  Task<Done> run() {
    while (true) {
      co_await sleep_for(std::chrono::milliseconds(world_.settings.metrics_batch_interval_ms));
      co_await flush();
    }
  }

  Task<Done> flush() {
    auto flushed = co_await usage::flush_all_usage(world_.local->store, world_.clock);
    std::string failure = flushed.ok() ? "" : flushed.error().message;
    if (!failure.empty() && failure != reported_) world_.output.progress(failure);
    reported_ = std::move(failure);
    co_return Done{};
  }

 private:
  CommandContext& world_;
  std::string reported_;
};

// The schedules of the store, of which each worker and each server starts the due runs.
class Scheduler {
 public:
  explicit Scheduler(CommandContext& world) : world_(world) {}

  // Decides the ticks that are due, then again every second.
  Task<Done> run() {
    co_await process();
    while (true) {
      co_await sleep_for(scheduler::poll_interval);
      co_await process();
    }
  }

  // A failure is reported, and tried again later.
  Task<Done> process() {
    if (!is_declared_) {
      auto declared = co_await scheduler::declare_schedules(parts(), world_.settings.user,
                                                            world_.program.schedules);
      report(declared.ok() ? "" : declared.error().message);
      is_declared_ = declared.ok();
    }
    auto started = co_await scheduler::process_due_schedules(parts());
    report(started.ok() ? "" : started.error().message);
    co_return Done{};
  }

 private:
  scheduler::SchedulerParts parts() {
    return {world_.local->store, world_.service, world_.clock, zones_, world_.who.tenant};
  }

  // The same error is reported once, not every second.
  void report(const std::string& message) {
    if (!message.empty() && message != reported_) world_.output.progress(message);
    if (!message.empty()) reported_ = message;
  }

  CommandContext& world_;
  const cron::ZoneDatabase zones_;
  bool is_declared_ = false;
  std::string reported_;
};

// Starts a task that ends with the worker.
Spawned start_beside(CommandContext& world, Task<Done> task) {
  std::function<void(Done)> never = [](Done) {};
  return spawn<Done>(world.executor, std::move(task), std::move(never));
}

}  // namespace

void declare_name_of_worker(CommandWords& words, Work& work) {
  words.option("--name", work.name, "Name in `workers`, on PostgreSQL (default: HOST:PID)");
}

void declare_drain_timeout(CommandWords& words, Work& work) {
  words
      .option("--drain-timeout", work.drain_text,
              "Time for running nodes to complete after SIGTERM or Ctrl-C; 0: none")
      .shows_default();
}

void declare_retention(CommandWords& words, Work& work) {
  words
      .option("--retention", work.retention_text,
              "Time to keep ended threads: 12h, 30d, or forever")
      .shows_default()
      .former_name("--keep");
}

Result<Done> complete_work(Work& work) {
  if (work.name) BELAY_CHECK(check_name("worker name", *work.name));
  if (work.drain_text == "0" || work.drain_text == "0s") {
    work.drain_timeout = std::chrono::milliseconds(0);
  } else {
    BELAY_TRY(work.drain_timeout, duration_from("--drain-timeout", work.drain_text));
  }
  if (work.retention_text == "forever") return Done{};
  BELAY_TRY(work.retention, age_from("--retention", work.retention_text));
  return Done{};
}

// Only workers deliver: other commands could end before a receiver has returned.
Result<Done> register_receivers(CommandContext& world) {
  BELAY_TRY(auto receivers, world.program.receivers(world.settings));
  for (auto& [topic, receiver] : receivers) {
    world.local->runtime.deliver(topic, std::move(receiver));
  }
  return Done{};
}

Task<Result<std::size_t>> work_until_drained(CommandContext& world, Work wanted) {
  WorkerOptions options;
  options.tenant = world.who.tenant;
  options.runs_max = wanted.runs_max;
  options.until_idle = wanted.until_idle;
  options.queues = wanted.queues;
  Spawned pruning, scheduling, flushing, watching;
  CodeGoneAlarm alarm(world);
  if (!wanted.until_idle) watching = start_beside(world, alarm.run());
  UsageFlushes flushes(world);
  if (!wanted.until_idle) flushing = start_beside(world, flushes.run());
  if (wanted.retention && !wanted.until_idle) {
    pruning = start_beside(world, prune_from_time_to_time(world, *wanted.retention));
  }
  Scheduler scheduler(world);
  if (wanted.until_idle) {
    co_await scheduler.process();
  } else {
    scheduling = start_beside(world, scheduler.run());
  }
  options.on_error = [&world, told = std::string()](const Error& why) mutable {
    if (std::exchange(told, why.message) != why.message) world.output.progress(why.message);
  };
  auto count = co_await world.local->runtime.run_worker(std::move(options));
  pruning.reset();
  scheduling.reset();
  flushing.reset();
  watching.reset();
  // Without a store that can be written, the end of the process does not wait for it: the records
  // are in the store, and the next process adds them.
  if (count.ok() && world.local->store.accepts_commits()) co_await flushes.flush();
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

namespace {

class WorkerCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.option("--max-runs", work_.runs_max, "Maximum concurrent runs")
        .range(std::size_t{1}, kRunsOfWorkerMax)
        .shows_default()
        .former_name("--runs");
    declare_retention(words, work_);
    words.option("--queue", work_.queues, "Only this queue; repeatable");
    words.option("--per-user", work_.per_user, "Maximum running runs per user; 0: unlimited [0]");
    words.option("--per-key", work_.per_key,
                 "Maximum running runs per concurrency key; 0: unlimited [1]");
    words.option("--per-queue", work_.per_queue,
                 "Maximum running runs per queue; 0: unlimited [0]");
    declare_name_of_worker(words, work_);
    declare_drain_timeout(words, work_);
    words.flag("--until-idle", work_.until_idle, "Exit when no run is claimable or in progress");
  }
  Result<Done> validate(const CommandValidation&) override { return complete_work(work_); }
  const Work* work() const override { return &work_; }

  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_CHECK(register_receivers(world));
    Shutdown shutdown(world, work_.drain_timeout);
    world.local->when_stopped = [&shutdown] { shutdown.take_signal(); };
    world.progress.name_threads();
    if (!work_.until_idle) world.output.progress(world.phrases.worker_started);
    BELAY_CO_TRY(std::size_t count, co_await work_until_drained(world, work_));
    world.output.progress(format_message(world.phrases.processed, {{"n", std::to_string(count)}}));
    world.output.document(Value::object({{"processed", count}, {"takenUp", count}}));
    co_return ExitCode::done;
  }

 private:
  Work work_;
};

}  // namespace

CommandSpec builtin::worker_command(const Program&) {
  return {.path = {"worker"},
          .line = "Execute queued and orphaned runs",
          .end = kWorkerHelp,
          .traits = {.needs_own_store = "worker executes runs of",
                     .creates_store = true,
                     .is_service = true},
          .make = make_command<WorkerCommand>};
}

}  // namespace belay::cli
