// `belay threads`: lists the threads, newest first.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

std::string state_of(const CommandContext& world, const ListedThread& listed) {
  if (!listed.run) return "";
  std::string state(status_label(world.phrases, listed.run->status));
  if (!listed.run->outcome.empty()) state += ": " + listed.run->outcome;
  if (!listed.run->reason.empty()) state += ": " + listed.run->reason;
  if (std::string due = due_text(world, *listed.run); !due.empty()) state += ", " + due;
  return state;
}

}  // namespace

Task<CommandResult> list_threads(CommandContext& world, Threads wanted) {
  ThreadPage page;
  page.limit = wanted.limit;
  BELAY_CO_TRY(std::vector<ListedThread> listed, co_await world.service.threads(std::move(page)));
  if (listed.empty()) {
    world.output.line("No threads yet. Start one: " + command(world, world.program.first_run));
  }
  std::size_t id_width = 0;
  for (const ListedThread& one : listed)
    id_width = std::max(id_width, columns(one.thread.thread.text));
  id_width = std::min(id_width, std::size_t{40});
  Value::Array documents;
  const TimeZone& zone = world.settings.time_zone;
  for (const ListedThread& one : listed) {
    world.output.line(padded(one_line(one.thread.thread.text), id_width) + "  " +
                      padded(one.thread.graph, 17) + "  " +
                      moment_text(zone, one.thread.created_at) + "  " + state_of(world, one));
    documents.push_back(thread_document(one.thread, one.run));
  }
  world.output.document(Value::object({{"threads", std::move(documents)}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
