// `belay queue clear`: cancels the queued runs of a queue.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "cli/show.h"
#include "service/queue_clearing.h"

namespace belay::cli {
namespace {

constexpr const char* kQueueClearHelp =
    R"(Cancels the queued runs of the queue that no process has claimed. Runs that are running, that
wait for a decision, or that a worker has released continue. Without --yes, only shows their number.
With a key to a server, these are the runs that the key may cancel.

Examples:
  {p} queue clear mails
  {p} queue clear mails --yes
)";

class QueueClearCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("QUEUE", name_, "Its name").required();
    words.flag("--yes", yes_, "Cancel the runs");
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_name("queue's name", name_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    QueueClearing clearing;
    clearing.queue = name_;
    clearing.by = acting_name(world, std::nullopt);
    clearing.dry_run = !yes_;
    QueueClearing asked = clearing;
    BELAY_CO_TRY(ClearedQueue cleared,
                 co_await clear_queue(world.service, world.who, std::move(asked)));
    std::string line = "Queue \"" + one_line(name_) + "\": ";
    if (yes_) {
      line += count_text(static_cast<std::uint64_t>(cleared.cancelled), "run") + " cancelled.";
    } else {
      line += count_text(static_cast<std::uint64_t>(cleared.queued), "queued run") + ".";
    }
    world.output.line(line);
    if (!yes_ && cleared.queued > 0) {
      world.output.line("Cancel them: " + command(world, {"queue", "clear", name_, "--yes"}));
    }
    world.output.document(cleared_queue_document(clearing, cleared));
    co_return ExitCode::done;
  }

 private:
  std::string name_;
  bool yes_ = false;
};

}  // namespace

CommandSpec builtin::queue_clear_command(const Program&) {
  return {.path = {"queue", "clear"},
          .line = "Cancel the queued runs of a queue",
          .end = kQueueClearHelp,
          .make = make_command<QueueClearCommand>};
}

}  // namespace belay::cli
