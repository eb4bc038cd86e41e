// `belay threads`: lists the threads, newest first; shows one with its runs; changes one.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr std::size_t kInputWidth = 60;
constexpr std::size_t kIdWidthMax = 40;
constexpr std::size_t kStatusWidth = 11;

std::string state_of(const CommandContext& world, const RunRow& run) {
  std::string state(status_label(world.phrases, run.status));
  if (!run.outcome.empty()) state += ": " + run.outcome;
  if (!run.reason.empty()) state += ": " + run.reason;
  if (std::string due = due_text(world, run); !due.empty()) state += ", " + due;
  return state;
}

// The latest change of the thread or of its current run.
Instant activity_of(const ListedThread& listed) {
  Instant at = std::max(listed.thread.created_at, listed.thread.updated_at);
  return listed.run ? std::max(at, listed.run->updated_at) : at;
}

std::string line_of(const CommandContext& world, const ListedThread& one, std::size_t id_width) {
  std::string line = padded(one_line(one.thread.thread.text), id_width) + "  " +
                     padded(one.thread.graph, 17) + "  " +
                     moment_text(world.settings.time_zone, activity_of(one));
  if (one.run) {
    line += "  " + padded(name_of(thread_status(*one.run)), kStatusWidth) + "  " +
            state_of(world, *one.run);
  }
  if (!one.thread.title.empty()) line += "  \"" + one_line(one.thread.title) + "\"";
  return line;
}

bool is_default(const Value& value) {
  const std::string* text = value.as_string();
  const Value::Array* items = value.as_array();
  const Value::Object* members = value.as_object();
  return value.is_null() || value == Value(false) || value == Value(0) || (text && text->empty()) ||
         (items && items->empty()) || (members && members->empty());
}

// "question=What is it?": the members of an input that differ from their defaults, in one line.
std::string summary_of(const Output& output, const RunRow& run) {
  auto json = json_in_envelope(run.input);
  Value input = json.ok() ? parse_json(*json).value_or(Value()) : Value();
  const Value::Object* members = input.as_object();
  if (!members) return "";
  std::string summary;
  for (const auto& [name, member] : *members) {
    if (is_default(member)) continue;
    const std::string* text = member.as_string();
    summary += (summary.empty() ? "" : ", ") + name + "=" + (text ? *text : to_json(member));
  }
  return shortened(summary, kInputWidth, output.glyph("\xE2\x80\xA6", "..."));
}

void show_settings(CommandContext& world, const ListedThread& found) {
  const ThreadRow& thread = found.thread;
  Output& output = world.output;
  const TimeZone& zone = world.settings.time_zone;
  std::string headline = one_line(thread.thread.text) + "  (" + thread.graph + ")";
  if (found.run) headline += "  " + std::string(name_of(thread_status(*found.run)));
  output.line(headline);
  if (!thread.title.empty()) output.line("  title:     " + one_line(thread.title));
  if (!thread.metadata.empty()) output.line("  metadata:  " + one_line(thread.metadata));
  output.line("  created:   " + moment_text(zone, thread.created_at));
  output.line("  active:    " + moment_text(zone, activity_of(found)));
  if (thread.expires_at == Instant{}) return;
  output.line("  expires:   " + moment_text(zone, thread.expires_at) + ", " +
              relative_text(world.phrases, thread.expires_at, world.clock.now()));
}

Task<CommandResult> show_thread(CommandContext& world, ShowThread wanted) {
  ThreadId thread(std::move(wanted.thread));
  RunPage page;
  page.thread = thread;
  page.limit = wanted.limit;
  BELAY_CO_TRY(page.before, co_await named_run(world, thread, std::move(wanted.before)));
  BELAY_CO_TRY(std::vector<RunRow> runs, co_await world.service.runs(std::move(page)));
  BELAY_CO_TRY(ListedThread found, co_await world.service.thread(thread));
  show_settings(world, found);
  Value::Array documents;
  for (const RunRow& run : runs) {
    world.output.line("  " + run.run.text() + "  " +
                      moment_text(world.settings.time_zone, run.created_at) + "  " +
                      padded(state_of(world, run), 20) + "  " + summary_of(world.output, run));
    documents.push_back(run_summary_with_input(run));
  }
  Value next;
  if (runs.size() == wanted.limit) {
    next = runs.back().run.text();
    world.output.line("More: " + command(world, {"threads", "show", thread.text, "--before",
                                                 runs.back().run.text()}));
  }
  Value document = thread_document(found.thread, found.run);
  document.as_object()->emplace("runs", std::move(documents));
  document.as_object()->emplace("next", std::move(next));
  world.output.document(document);
  co_return ExitCode::done;
}

Task<CommandResult> edit_thread(CommandContext& world, EditThread wanted) {
  ThreadId thread(std::move(wanted.thread));
  if (wanted.expires_after) wanted.settings.expires_at = world.clock.now() + *wanted.expires_after;
  BELAY_CO_CHECK(co_await world.service.edit_thread(thread, std::move(wanted.settings)));
  BELAY_CO_TRY(ListedThread found, co_await world.service.thread(std::move(thread)));
  show_settings(world, found);
  world.output.document(thread_document(found.thread, found.run));
  co_return ExitCode::done;
}

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
  id_width = std::min(id_width, kIdWidthMax);
  Value::Array documents;
  for (const ListedThread& one : listed) {
    world.output.line(line_of(world, one, id_width));
    documents.push_back(thread_document(one.thread, one.run));
  }
  world.output.document(Value::object({{"threads", std::move(documents)}}));
  co_return ExitCode::done;
}

}  // namespace

bool is_about_threads(const Command& verb) {
  return std::holds_alternative<Threads>(verb) || std::holds_alternative<ShowThread>(verb) ||
         std::holds_alternative<EditThread>(verb);
}

Task<CommandResult> see_to_threads(CommandContext& world, Command verb) {
  if (auto* one = std::get_if<ShowThread>(&verb)) return show_thread(world, std::move(*one));
  if (auto* one = std::get_if<EditThread>(&verb)) return edit_thread(world, std::move(*one));
  return list_threads(world, std::get<Threads>(verb));
}

}  // namespace belay::cli
