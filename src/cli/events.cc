// `belay events`: prints the events of a run; with --follow also new ones.

#include "cli/commands.h"
#include "cli/named_run.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr int body_columns = 200;

// "12-3  2026-11-21 12:00:00.123  updates  write  {...}"
std::string line_of(const CommandContext& world, const StreamEvent& event) {
  std::string line = padded(event.id ? event.id->text() : "-", 7) + " " +
                     precise_text(world.settings.time_zone, event.at) + "  " +
                     padded(name_of(event.kind), 11) + " ";
  std::string where =
      event.checkpoint_ns.empty() ? event.node : event.checkpoint_ns + "/" + event.node;
  if (!where.empty()) line += " " + one_line(where);
  const std::string* text = event.body["text"].as_string();
  bool is_said = event.kind == EventKind::messages && text;
  std::string body = is_said ? *text : to_json(event.body);
  return line + "  " + shortened(body, body_columns, world.output.glyph("\xE2\x80\xA6", "..."));
}

}  // namespace

Task<CommandResult> show_events(CommandContext& world, ShowEvents wanted) {
  EventOptions options = wanted.options;
  BELAY_CO_TRY(options.run, co_await named_run(world, options.thread, std::move(wanted.run)));
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await world.service.events(std::move(options)));
  while (true) {
    BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader->next());
    if (events.empty()) co_return ExitCode::done;
    for (const StreamEvent& event : events) {
      std::string line = world.output.json() ? to_json(to_value(event)) : line_of(world, event);
      if (!world.output.write_now(line)) co_return ExitCode::done;
    }
  }
}

}  // namespace belay::cli
