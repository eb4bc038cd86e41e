// `belay replay`: replays a run, and reports the first divergence from its recording.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/list_text.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/shared_options.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr const char* kReplayHelp =
    R"(Executes the run again in memory, with recorded model replies, effects and decisions, and
compares it commit by commit. It calls no external system and writes nothing. Exit code 1 if a
commit differs.

Example:
  {p} replay first
)";

constexpr int shown_columns = 400;

class ReplayCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, run_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, run_));
    BELAY_CO_TRY(ReplayReport report,
                 co_await world.service.replay(world.who, std::move(thread), run));
    Output& out = world.output;
    const ListText& words = list_text_of(world.settings.language);
    out.line(format_message(words.matching, {{"n", std::to_string(report.matching_commits)},
                                             {"all", std::to_string(report.run.seq)}}));
    if (report.divergence) {
      const Divergence& first = *report.divergence;
      std::string_view more = out.glyph("\xE2\x80\xA6", "...");
      out.line(format_message(words.different, {{"n", std::to_string(first.seq)},
                                                {"node", one_line(first.node)},
                                                {"part", one_line(first.what)}}));
      out.line("  " + std::string(words.recorded) + "  " +
               shortened(first.recorded, shown_columns, more));
      out.line("  " + std::string(words.replayed) + "  " +
               shortened(first.replayed, shown_columns, more));
    }
    out.document(replay_document(report));
    co_return report.divergence ? ExitCode::failed : ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
};

}  // namespace

CommandSpec builtin::replay_command(const Program&) {
  return {.path = {"replay"},
          .line = "Replay a run from its journal and compare",
          .end = kReplayHelp,
          .make = make_command<ReplayCommand>};
}

}  // namespace belay::cli
