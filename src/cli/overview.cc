// `belay status`, and `belay` without a command: shows running runs, open approvals, and the next
// commands.

#include "belay/limits.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kStatusHelp =
    R"(The same as {p} without a command.

Example:
  {p} status --json
)";

// Queued runs and open approvals of a StatusSummary.
constexpr std::size_t kListed = 100;

// `is_cut`: there can be more of these runs.
void show_runs(CommandContext& world, std::string_view title, const std::vector<RunRow>& rows,
               bool is_cut = false) {
  if (rows.empty()) return;
  std::string count = std::to_string(rows.size()) + (is_cut ? "+" : "");
  world.output.line(world.output.styled(Style::bold, title) + " (" + count + "):");
  for (const RunRow& row : rows) {
    std::string due = due_text(world, row);
    world.output.line("  " + one_line(row.thread.text) + "  " + row.graph + "  " + row.node +
                      (due.empty() ? "" : "  " + due));
  }
}

void show_hints(CommandContext& world, const StatusSummary& standing) {
  std::vector<std::string> hints;
  if (!standing.orphaned.empty()) hints.push_back(command(world, {"resume", "--all"}));
  if (!standing.open.empty()) {
    hints.push_back(command(world, {"approvals", "show", standing.open.front().interrupt.text()}));
  }
  if (!standing.queued.empty()) hints.push_back(command(world, {"worker"}));
  if (!standing.code_gone.empty() && world.local) {
    hints.push_back(command(world, {"upgrade", "--check"}));
  }
  // For a first look, not for a store whose runs need something.
  if (hints.empty()) {
    for (const auto& words : world.program.other_hints) hints.push_back(command(world, words));
  }
  hints.push_back(command(world, world.program.first_run));
  hints.push_back(world.program.call + " --help");
  world.output.line(world.output.styled(Style::bold, world.phrases.try_next) + ":");
  for (std::size_t i = 0; i < hints.size() && i < 3; ++i) world.output.line("  " + hints[i]);
}

class StatusCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    Whose everybody;
    BELAY_CO_TRY(StatusSummary standing,
                 co_await world.service.standing(world.who, std::move(everybody)));
    if (standing.at_work.empty() && standing.orphaned.empty() && standing.queued.empty() &&
        standing.code_gone.empty() && standing.open.empty()) {
      world.output.line(world.phrases.idle);
    }
    show_runs(world, world.phrases.running_title, standing.at_work);
    show_runs(world, world.phrases.orphaned_title, standing.orphaned);
    show_runs(world, world.phrases.queued_title, standing.queued,
              standing.queued.size() == kListed);
    show_runs(world, world.phrases.code_gone_title, standing.code_gone);
    for (const ApprovalRow& row : standing.open) show_approval_line(world, row);
    if (standing.open.size() == kListed) {
      world.output.line("More: " + command(world, {"approvals", "list"}));
    }
    show_hints(world, standing);
    world.output.document(
        status_summary_document(standing, world.program.presentation.approval_document));
    co_return ExitCode::done;
  }
};

}  // namespace

CommandSpec builtin::status_command(const Program&) {
  return {.path = {"status"},
          .line = "Show runs in progress and pending approvals",
          .end = kStatusHelp,
          .is_default = true,
          .make = make_command<StatusCommand>};
}

}  // namespace belay::cli
