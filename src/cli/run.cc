// belay run: begins a run of an agent, or goes on with the one of that thread. It never decides.
// belay enqueue: leaves that to a worker.

#include "cli/documents.h"
#include "cli/find_run.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

StartOptions start_options(World& world, const RunAgent& wanted) {
  StartOptions options;
  options.tenant = tenant_of(world);
  options.user = world.settings.user;
  options.thread = ThreadId(wanted.thread.value_or(random_uuid(world.random).text()));
  options.run = wanted.options;
  return options;
}

Task<Result<RunView>> start(World& world, const RunAgent& wanted, StartOptions options) {
  BELAY_CO_TRY(std::shared_ptr<void> state, state_from(*wanted.definition->state, wanted.state));
  std::string graph = wanted.definition->name;
  co_return co_await world.runtime.start(std::move(graph), std::move(state), std::move(options));
}

}  // namespace

Task<Answered> run_agent(World& world, RunAgent wanted) {
  StartOptions options = start_options(world, wanted);
  ThreadId thread = options.thread;
  world.progress.begins(thread);
  auto view = co_await start(world, wanted, std::move(options));
  world.progress.rests(thread);
  if (!view.ok()) {
    co_return co_await with_owner(world, std::move(thread), std::move(view).error());
  }
  show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  co_return end_of(world, *view);
}

Task<Answered> enqueue_agent(World& world, RunAgent wanted) {
  StartOptions options = start_options(world, wanted);
  BELAY_CO_TRY(std::shared_ptr<void> state, state_from(*wanted.definition->state, wanted.state));
  std::string graph = wanted.definition->name;
  Instant not_before = world.clock.now() + wanted.delay;
  BELAY_CO_TRY(RunView view, co_await world.runtime.enqueue(std::move(graph), std::move(state),
                                                            std::move(options), not_before));
  show_headline(world, view);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
