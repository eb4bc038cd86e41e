// `belay outbox`: lists published messages and their deliveries, retries and discards them.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kOutboxHelp =
    R"(A worker of a program with receivers delivers messages, at least once each. A message that is
discarded after its last attempt remains in the outbox with its last error; retry delivers it
again.

Examples:
  {p} outbox list
  {p} outbox list --thread first --all
  {p} outbox retry 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
  {p} outbox discard 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
)";

std::string line_of(const TimeZone& zone, const OutboxRow& row) {
  std::string line = message_id(row) + "  " + padded(one_line(row.topic), 12) + "  " +
                     padded(std::string(name_of(row.status)), 9) + "  " +
                     moment_text(zone, row.created_at) + "  tried " + std::to_string(row.attempts);
  if (row.status == OutboxStatus::waiting) line += ", due " + moment_text(zone, row.due_at);
  if (!row.error.empty()) line += "  " + one_line(row.error);
  return line;
}

class OutboxListCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.option("--thread", thread_, "Only messages of this thread's run")
        .completes(NamesToComplete::threads);
    words.flag("--all", all_, "Include delivered messages");
    declare_limit(words, limit_);
  }
  Result<Done> validate(const CommandValidation&) override {
    return thread_ ? check_thread(*thread_) : Result<Done>(Done{});
  }

  Task<CommandResult> run(CommandContext& world) override {
    MessagePage page;
    if (thread_) page.thread = ThreadId(*thread_);
    page.all = all_;
    page.limit = limit_;
    BELAY_CO_TRY(Messages found, co_await world.service.messages(world.who, std::move(page)));
    if (found.rows.empty()) world.output.line("No messages.");
    for (const OutboxRow& row : found.rows) {
      world.output.line(line_of(world.settings.time_zone, row));
    }
    if (found.more > 0) {
      std::string_view at_least = found.more < limits::list_rows_max ? "" : "At least ";
      world.output.line(std::string(at_least) + std::to_string(found.more) + " more. See --limit.");
    }
    world.output.document(messages_document(found));
    co_return ExitCode::done;
  }

 private:
  std::optional<std::string> thread_;
  bool all_ = false;
  std::size_t limit_ = 100;
};

// `outbox retry` and `outbox discard`.
class OutboxMoveCommand final : public Command {
 public:
  explicit OutboxMoveCommand(bool discard) : discard_(discard) {}

  void declare(CommandWords& words) override {
    words.argument("ID", id_, "Message id, as in `outbox list`").required();
  }

  Task<CommandResult> run(CommandContext& world) override {
    auto task = discard_ ? world.service.give_up_message(world.who, id_)
                         : world.service.retry_message(world.who, id_);
    auto moved = co_await std::move(task);
    if (!moved.ok()) co_return std::move(moved).error();
    world.output.line(id_ + (discard_ ? " is discarded." : " is due now."));
    world.output.document(
        Value::object({{"id", id_}, {"status", discard_ ? "given_up" : "waiting"}}));
    co_return ExitCode::done;
  }

 private:
  bool discard_;  // false: retry it now
  std::string id_;
};

}  // namespace

CommandSpec builtin::outbox_command(const Program&) {
  return {
      .path = {"outbox"}, .line = "List, retry and discard messages of runs", .end = kOutboxHelp};
}

CommandSpec builtin::outbox_list_command(const Program&) {
  return {.path = {"outbox", "list"},
          .line = "List undelivered messages, oldest first",
          .end = kOutboxHelp,
          .make = make_command<OutboxListCommand>};
}

CommandSpec builtin::outbox_retry_command(const Program&) {
  return {.path = {"outbox", "retry"},
          .line = "Deliver a waiting or discarded message now",
          .end = kOutboxHelp,
          .make = [] { return std::make_unique<OutboxMoveCommand>(false); }};
}

CommandSpec builtin::outbox_discard_command(const Program&) {
  return {.path = {"outbox", "discard"},
          .line = "Discard a message",
          .end = kOutboxHelp,
          .former_names = {"give-up"},
          .make = [] { return std::make_unique<OutboxMoveCommand>(true); }};
}

}  // namespace belay::cli
