// `belay state`: shows a run as it is now, or as of one of its commits.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kStateHelp =
    R"(Examples:
  {p} state first
  {p} state first --at 2    # its state after commit 2
  {p} state first --run 1f0c64
)";

class StateCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
    words.option("--at", at_, "After this commit, by its number in history");
  }
  Result<Done> validate(const CommandValidation&) override {
    BELAY_CHECK(check_thread_and_run(thread_, run_));
    BELAY_TRY(seq_, seq_from(at_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, run_));
    BELAY_CO_TRY(RunView view,
                 co_await world.service.status(world.who, std::move(thread), seq_, run));
    show_run(world, view);
    world.output.document(run_document(world.program, view));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::optional<std::string> at_;
  std::optional<std::uint64_t> seq_;  // parsed `at_`
};

}  // namespace

CommandSpec builtin::state_command(const Program&) {
  return {.path = {"state"},
          .line = "Show a run now, or after one of its commits",
          .end = kStateHelp,
          .make = make_command<StateCommand>};
}

}  // namespace belay::cli
