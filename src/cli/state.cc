// `belay state`: shows a run as it is now, or as of one of its commits.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/show.h"

namespace belay::cli {

Task<CommandResult> show_state(CommandContext& world, StateOf wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, std::move(wanted.run)));
  BELAY_CO_TRY(RunView view, co_await world.service.status(std::move(thread), wanted.seq, run));
  show_run(world, view);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
