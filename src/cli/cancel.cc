// `belay cancel`: cancels a run of a thread, whichever process owns it.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "service/steering.h"

namespace belay::cli {
namespace {

constexpr const char* kCancelHelp =
    R"(Cancels the thread's current run, or --run, whichever process owns it. Its commits
remain.

Examples:
  {p} cancel first
  {p} cancel first --run 1f0c64
)";

class CancelCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
    words.option("--by", by_, "Canceller (default: login name)");
  }
  Result<Done> validate(const CommandValidation&) override {
    BELAY_CHECK(check_thread_and_run(thread_, run_));
    return check_decider(by_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    std::string by = acting_name(world, by_);
    BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, run_));
    BELAY_CO_TRY(RunView view, co_await world.service.cancel(world.who, std::move(thread),
                                                             std::move(by), "", run));
    show_headline(world, view);
    Value document = run_document(world.program, view);
    RunRow cancelled = view.row;
    co_await add_unused_steering(world.service, world.who, std::move(cancelled), document);
    if (const Value::Array* unused = document["unusedSteering"].as_array()) {
      for (const Value& message : *unused) {
        world.output.line("Not used: " + one_line(*message["text"].as_string()));
      }
    }
    world.output.document(document);
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::optional<std::string> by_;
};

}  // namespace

CommandSpec builtin::cancel_command(const Program&) {
  return {.path = {"cancel"},
          .line = "Cancel a thread's run",
          .end = kCancelHelp,
          .make = make_command<CancelCommand>};
}

}  // namespace belay::cli
