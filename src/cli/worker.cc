// belay worker: takes up what there is to do in the store, until a signal comes.

#include "cli/verbs.h"

namespace belay::cli {

Task<Answered> work_on_runs(World& world, Work wanted) {
  WorkOptions options;
  options.tenant = tenant_of(world);
  options.runs_max = wanted.runs;
  options.until_idle = wanted.until_idle;
  world.progress.name_threads();
  if (!wanted.until_idle) world.output.progress(world.phrases.working);
  BELAY_CO_TRY(std::size_t count, co_await world.runtime.work(std::move(options)));
  world.output.progress(filled(world.phrases.worked, {{"n", std::to_string(count)}}));
  world.output.document(Value::object({{"takenUp", count}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
