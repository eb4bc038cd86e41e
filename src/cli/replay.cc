// `belay replay`: replays a run, and reports the first divergence from its recording.

#include "cli/commands.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr int shown_columns = 400;

}  // namespace

Task<CommandResult> replay_thread(CommandContext& world, Replay wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, std::move(wanted.run)));
  BELAY_CO_TRY(ReplayReport report, co_await world.service.replay(std::move(thread), run));
  Output& out = world.output;
  std::string compared = std::to_string(report.matching_commits) + " of " +
                         std::to_string(report.run.seq) + " commits match the recording.";
  out.line(compared);
  if (report.divergence) {
    const Divergence& first = *report.divergence;
    std::string_view more = out.glyph("\xE2\x80\xA6", "...");
    out.line("Commit " + std::to_string(first.seq) + ", " + one_line(first.node) + ": different " +
             one_line(first.what) + ".");
    out.line("  recorded  " + shortened(first.recorded, shown_columns, more));
    out.line("  replayed  " + shortened(first.replayed, shown_columns, more));
  }
  out.document(replay_document(report));
  co_return report.divergence ? ExitCode::failed : ExitCode::done;
}

}  // namespace belay::cli
