// `belay events`: prints the events of a run; with --follow also new ones.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/live_words.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kEventsHelp =
    R"(One line per event, with the id to continue after; with --json, one document per line.
Kinds: status, values, updates, messages, custom, tasks, checkpoints, approvals, debug.

Examples:
  {p} events first
  {p} events first --follow --kinds status,approvals
  {p} events first --after 12-3 --json
)";

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

class EventsCommand final : public Command {
 public:
  EventsCommand() { options_.follow = false; }

  void declare(CommandWords& words) override {
    declare_thread(words, options_.thread.text);
    declare_run(words, run_);
    words.option("--after", after_, "Only events after this event id");
    words.option("--kinds", kinds_, "Only these kinds, comma-separated: status,values,...")
        .comma_separated();
    words.flag("--follow", options_.follow, "Follow the run until it has ended");
  }

  Result<Done> validate(const CommandValidation&) override {
    BELAY_CHECK(check_thread_and_run(options_.thread.text, run_));
    if (after_) {
      options_.after = event_id_from(*after_);
      if (!options_.after) {
        return error(ErrorCode::invalid, "Invalid event id \"" + *after_ +
                                             "\" after --after: expected SEQ-INDEX, such as 12-3.");
      }
    }
    for (const std::string& name : kinds_) {
      auto kind = event_kind_named(name);
      if (!kind) {
        return error(ErrorCode::invalid, "Invalid event kind \"" + name +
                                             "\": expected status, values, updates, messages, "
                                             "custom, tasks, checkpoints, approvals or debug.");
      }
      options_.kinds.push_back(*kind);
    }
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    EventOptions options = options_;
    BELAY_CO_TRY(options.run, co_await named_run(world, options.thread, run_));
    BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
                 co_await world.service.events(world.who, std::move(options)));
    while (true) {
      BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader->next());
      if (events.empty()) co_return ExitCode::done;
      for (const StreamEvent& event : events) {
        bool is_word = event.kind == EventKind::messages && !event.id;
        if (is_word && !world.output.json() && world.output.options().live_result) {
          if (!show_words(world, event)) co_return ExitCode::done;
          continue;
        }
        if (std::exchange(speaks_, false)) world.output.write_part("\n");
        std::string line = world.output.json() ? to_json(to_value(event)) : line_of(world, event);
        if (!world.output.write_now(line)) co_return ExitCode::done;
      }
    }
  }

 private:
  // On a terminal, the text that a node streams is one growing line instead of a line per delta.
  bool show_words(CommandContext& world, const StreamEvent& event) {
    std::string words = joiner_.take(event);
    if (words.empty()) return true;
    bool is_other = !speaks_ || words.front() == '\n';
    if (words.front() == '\n') words.erase(0, 1);
    if (is_other) {
      std::string head = (speaks_ ? "\n" : "") + padded("-", 7) + " " +
                         precise_text(world.settings.time_zone, event.at) + "  " +
                         padded(name_of(event.kind), 11) + "  " + one_line(event.node) + "  ";
      if (!world.output.write_part(head)) return false;
    }
    speaks_ = true;
    return world.output.write_part(words);
  }

  WordJoiner joiner_;
  bool speaks_ = false;
  std::optional<std::string> run_;
  std::optional<std::string> after_;
  std::vector<std::string> kinds_;
  EventOptions options_;  // the thread, and the parsed options above
};

}  // namespace

CommandSpec builtin::events_command(const Program&) {
  return {.path = {"events"},
          .line = "Show a run's events",
          .end = kEventsHelp,
          .former_names = {"tail"},
          .make = make_command<EventsCommand>};
}

}  // namespace belay::cli
