// `belay threads delete`: deletes a thread with all of its runs, or its runs before the newest.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/shared_options.h"

namespace belay::cli {
namespace {

constexpr const char* kDeleteThreadHelp =
    R"(Deletes the thread with all of its runs, approvals, events and messages. All of its runs
must have ended, and no message may wait for its delivery. Records remain.

With --keep newest, the thread keeps its newest run, with its history and state.

Examples:
  {p} threads delete first
  {p} threads delete first --keep newest
)";

class ThreadsDeleteCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    words.option("--keep", keep_, "newest: delete only the runs before the newest one")
        .choices({"newest"});
  }
  Result<Done> validate(const CommandValidation&) override { return check_thread(thread_); }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    KeptRuns kept = keep_.empty() ? KeptRuns::none : KeptRuns::newest;
    BELAY_CO_TRY(ThreadDeletion deleted,
                 co_await world.service.delete_thread(world.who, std::move(thread), kept));
    std::string count = std::to_string(deleted.runs) + (deleted.runs == 1 ? " run" : " runs");
    std::string name = "Thread \"" + one_line(thread_) + "\"";
    world.output.line(keep_.empty() ? name + " is deleted, with " + count + "."
                                    : name + " keeps its newest run; deleted: " + count + ".");
    world.output.document(Value::object({{"threadId", thread_}, {"runs", deleted.runs}}));
    co_return ExitCode::done;
  }

 private:
  std::string thread_, keep_;
};

}  // namespace

CommandSpec builtin::threads_delete_command(const Program&) {
  return {.path = {"threads", "delete"},
          .line = "Delete a thread with all of its runs",
          .end = kDeleteThreadHelp,
          .make = make_command<ThreadsDeleteCommand>};
}

}  // namespace belay::cli
