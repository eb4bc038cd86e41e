// `belay outbox`: lists published messages and their deliveries, retries and discards them.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

std::string line_of(const TimeZone& zone, const OutboxRow& row) {
  std::string line = message_id(row) + "  " + padded(one_line(row.topic), 12) + "  " +
                     padded(std::string(name_of(row.status)), 9) + "  " +
                     moment_text(zone, row.created_at) + "  tried " + std::to_string(row.attempts);
  if (row.status == OutboxStatus::waiting) line += ", due " + moment_text(zone, row.due_at);
  if (!row.error.empty()) line += "  " + one_line(row.error);
  return line;
}

}  // namespace

Task<CommandResult> list_messages(CommandContext& world, OutboxList wanted) {
  MessagePage page;
  if (wanted.thread) page.thread = ThreadId(*wanted.thread);
  page.all = wanted.all;
  page.limit = wanted.limit;
  BELAY_CO_TRY(Messages found, co_await world.service.messages(std::move(page)));
  if (found.rows.empty()) world.output.line("No messages.");
  for (const OutboxRow& row : found.rows) world.output.line(line_of(world.settings.time_zone, row));
  if (found.more > 0) {
    std::string_view at_least = found.more < limits::list_rows_max ? "" : "At least ";
    world.output.line(std::string(at_least) + std::to_string(found.more) + " more. See --limit.");
  }
  world.output.document(messages_document(found));
  co_return ExitCode::done;
}

Task<CommandResult> move_message(CommandContext& world, OutboxMove wanted) {
  auto task = wanted.discard ? world.service.give_up_message(wanted.id)
                             : world.service.retry_message(wanted.id);
  auto moved = co_await std::move(task);
  if (!moved.ok()) co_return std::move(moved).error();
  world.output.line(wanted.id + (wanted.discard ? " is discarded." : " is due now."));
  world.output.document(
      Value::object({{"id", wanted.id}, {"status", wanted.discard ? "given_up" : "waiting"}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
