// `belay cancel`: cancels a run of a thread, whichever process owns it.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/show.h"

namespace belay::cli {

Task<CommandResult> cancel_run(CommandContext& world, Cancel wanted) {
  ThreadId thread(std::move(wanted.thread));
  std::string by = acting_name(world, wanted.by);
  BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, std::move(wanted.run)));
  BELAY_CO_TRY(RunView view,
               co_await world.service.cancel(std::move(thread), std::move(by), "", run));
  show_headline(world, view);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
