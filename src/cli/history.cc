// `belay history`: lists the commits of a run, newest first.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
Task<CommandResult> show_history(CommandContext& world, History wanted) {
  HistoryPage page;
  page.thread = ThreadId(std::move(wanted.thread));
  page.limit = wanted.limit;
  BELAY_CO_TRY(RunHistory history, co_await world.service.history(std::move(page)));
  if (std::string due = due_text(world, history.run); !due.empty()) world.output.line(due);
  for (const CheckpointRow& row : history.checkpoints) {
    std::string number = std::to_string(row.seq);
    world.output.line(std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') + number + "  " +
                      precise_text(world.settings.time_zone, row.created_at) + "  " +
                      padded(name_of(row.kind), 8) + "  " + padded(row.node, 18) + "  " +
                      std::string(status_label(world.phrases, row.status)));
  }
  world.output.document(history_document(history));
  co_return ExitCode::done;
}

}  // namespace belay::cli
