// `belay run`: starts a run of an agent, on a new thread or a known one; never decides.
//
// `belay enqueue`: stores the run for a worker.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"
#include "service/run_request.h"

namespace belay::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};

StartRun start_of(CommandContext& world, RunAgent wanted) {
  StartRun start;
  start.agent = wanted.definition->name;
  start.input = std::move(wanted.state);
  start.user = world.settings.user;
  start.idempotency_key = std::move(wanted.key);
  start.if_busy = busy_thread_named(wanted.if_busy).value_or(BusyThread::reject);
  if (wanted.thread) {
    start.thread = ThreadId(*std::move(wanted.thread));
  } else if (start.idempotency_key.empty()) {
    start.thread = ThreadId(random_uuid(world.random).text());
    start.thread_is_new = true;
  } else if (world.local) {
    start.thread = thread_of_key(start.user, start.idempotency_key);
  }
  start.options = wanted.options;
  start.queued = wanted.queued;
  start.delay = wanted.delay;
  start.queue = wanted.queue;
  start.priority = wanted.priority;
  start.concurrency_key = wanted.concurrency_key;
  return start;
}

// Waits for the process that executes the run; if its session dies, resume() claims the run here.
Task<Result<RunView>> wait_for_owner(CommandContext& world, RunView view) {
  ThreadId thread = view.row.thread;
  RunId run = view.row.run;
  std::string process;
  if (auto id = world.local->process_of(view.row.session)) process = std::to_string(*id);
  world.output.progress(format_message(world.phrases.waits_for_process,
                                       {{"thread", thread.text}, {"process", process}}));
  while (view.row.status == RunStatus::running) {
    BELAY_CO_TRY(bool is_alive, world.local->store.is_alive(view.row.session));
    if (is_alive) {
      co_await sleep_for(kLookAgain);
      BELAY_CO_TRY(view, co_await world.service.status(thread, std::nullopt, run));
    } else {
      auto resumed = co_await world.service.resume(thread);
      bool is_claimed = !resumed.ok() && resumed.error().code == ErrorCode::conflict;
      if (!resumed.ok() && !is_claimed) co_return std::move(resumed).error();
      // Another process has claimed it first.
      if (is_claimed) resumed = co_await world.service.status(thread, std::nullopt, run);
      if (!resumed.ok()) co_return std::move(resumed).error();
      view = *std::move(resumed);
    }
  }
  co_return std::move(view);
}

}  // namespace

Task<CommandResult> run_agent(CommandContext& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  ThreadId thread = start.thread;
  if (!thread.empty()) world.progress.begins(thread);
  auto view = co_await world.service.start(std::move(start));
  bool is_elsewhere = world.local && view.ok() && view->row.status == RunStatus::running;
  if (is_elsewhere) {
    RunView before = *std::move(view);
    view = co_await wait_for_owner(world, std::move(before));
  }
  if (view.ok()) thread = view->row.thread;
  world.progress.rests(thread);
  if (!view.ok()) co_return std::move(view).error();
  show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  // As after `enqueue`: the run waits for earlier runs of its thread.
  bool is_enqueued = view->row.status == RunStatus::queued && !has_started(view->row);
  if (is_enqueued) co_return ExitCode::done;
  co_return end_of(world, *view);
}

Task<CommandResult> enqueue_agent(CommandContext& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  BELAY_CO_TRY(RunView view, co_await world.service.start(std::move(start)));
  show_headline(world, view);
  if (!has_started(view.row) && !view.held_by.empty()) {
    world.output.line("  " + std::string(world.phrases.held_by) + ":  " + one_line(view.held_by));
  }
  if (std::string due = due_text(world, view.row); !due.empty()) world.output.line("  " + due);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
