// `belay run`: starts a run of an agent, or continues the latest run of the thread; never decides.
//
// `belay enqueue`: stores the run for a worker.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};

StartRun start_of(CommandContext& world, RunAgent wanted) {
  StartRun start;
  start.agent = wanted.definition->name;
  start.input = std::move(wanted.state);
  start.user = world.settings.user;
  start.thread = ThreadId(wanted.thread.value_or(random_uuid(world.random).text()));
  start.options = wanted.options;
  start.queued = wanted.queued;
  start.delay = wanted.delay;
  start.queue = wanted.queue;
  start.priority = wanted.priority;
  start.concurrency_key = wanted.concurrency_key;
  return start;
}

// Waits for the process that executes the run; if its session dies, start() claims the run here.
Task<Result<RunView>> wait_for_owner(CommandContext& world, StartRun again, RunView view) {
  std::string process;
  if (auto id = world.local->process_of(view.row.session)) process = std::to_string(*id);
  world.output.progress(format_message(world.phrases.waits_for_process,
                                       {{"thread", again.thread.text}, {"process", process}}));
  while (view.row.status == RunStatus::running) {
    BELAY_CO_TRY(bool is_alive, world.local->store.is_alive(view.row.session));
    if (is_alive) {
      co_await sleep_for(kLookAgain);
      ThreadId thread = again.thread;
      BELAY_CO_TRY(view, co_await world.service.status(std::move(thread), std::nullopt));
    } else {
      StartRun wanted = again;
      BELAY_CO_TRY(view, co_await world.service.start(std::move(wanted)));
    }
  }
  co_return std::move(view);
}

}  // namespace

Task<CommandResult> run_agent(CommandContext& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  ThreadId thread = start.thread;
  world.progress.begins(thread);
  StartRun again = start;
  auto view = co_await world.service.start(std::move(start));
  bool is_elsewhere = world.local && view.ok() && view->row.status == RunStatus::running;
  if (is_elsewhere) {
    RunView before = *std::move(view);
    view = co_await wait_for_owner(world, std::move(again), std::move(before));
  }
  world.progress.rests(thread);
  if (!view.ok()) co_return std::move(view).error();
  show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  co_return end_of(world, *view);
}

Task<CommandResult> enqueue_agent(CommandContext& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  BELAY_CO_TRY(RunView view, co_await world.service.start(std::move(start)));
  show_headline(world, view);
  if (std::string due = due_text(world, view.row); !due.empty()) world.output.line("  " + due);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
