// `belay threads delete`: deletes a thread with all of its runs.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/shared_options.h"

namespace belay::cli {
namespace {

constexpr const char* kDeleteThreadHelp =
    R"(Deletes the thread with all of its runs, approvals, events and messages. All of its runs
must have ended, and no message may wait for its delivery. Records remain.

Examples:
  {p} threads delete first
)";

class ThreadsDeleteCommand final : public Command {
 public:
  void declare(CommandWords& words) override { declare_thread(words, thread_); }
  Result<Done> validate(const CommandValidation&) override { return check_thread(thread_); }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_TRY(ThreadDeletion deleted,
                 co_await world.service.delete_thread(world.who, std::move(thread)));
    world.output.line("Thread \"" + one_line(thread_) + "\" is deleted, with " +
                      std::to_string(deleted.runs) + (deleted.runs == 1 ? " run." : " runs."));
    world.output.document(Value::object({{"threadId", thread_}, {"runs", deleted.runs}}));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
};

}  // namespace

CommandSpec builtin::threads_delete_command(const Program&) {
  return {.path = {"threads", "delete"},
          .line = "Delete a thread with all of its runs",
          .end = kDeleteThreadHelp,
          .make = make_command<ThreadsDeleteCommand>};
}

}  // namespace belay::cli
