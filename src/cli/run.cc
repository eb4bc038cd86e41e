// belay run: begins a run of an agent, or goes on with the one of that thread. It never decides.
// belay enqueue: leaves that to a worker.

#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

StartRun start_of(World& world, RunAgent wanted) {
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

}  // namespace

Task<Answered> run_agent(World& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  ThreadId thread = start.thread;
  world.progress.begins(thread);
  auto view = co_await world.service.start(std::move(start));
  world.progress.rests(thread);
  if (!view.ok()) co_return std::move(view).error();
  show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  co_return end_of(world, *view);
}

Task<Answered> enqueue_agent(World& world, RunAgent wanted) {
  StartRun start = start_of(world, std::move(wanted));
  BELAY_CO_TRY(RunView view, co_await world.service.start(std::move(start)));
  show_headline(world, view);
  if (std::string due = due_text(world, view.row); !due.empty()) world.output.line("  " + due);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
