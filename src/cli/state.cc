// belay state: a run as it stands, or as it stood after one of its commits.

#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

Task<Result<RunView>> view_of(World& world, ThreadId thread, std::optional<std::uint64_t> at) {
  if (!at) co_return co_await world.runtime.status(tenant_of(world), std::move(thread));
  co_return co_await world.runtime.status_at(tenant_of(world), std::move(thread), *at);
}

}  // namespace

Task<Answered> show_state(World& world, StateOf wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_CHECK(check_name("thread id", thread.text));
  BELAY_CO_TRY(RunView view, co_await view_of(world, std::move(thread), wanted.at));
  show_run(world, view);
  world.output.document(run_document(view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
