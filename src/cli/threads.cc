// `belay threads`: lists the threads, newest first; shows one with its runs; changes and preserves
// one.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/list_text.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "cli/table.h"

namespace belay::cli {
namespace {

constexpr const char* kThreadsHelp =
    R"(A thread has one run after another. It is idle, busy (a run is queued or running, or waits
for a timer), interrupted (a run waits for a person) or in error (a run failed, or is quarantined).
`threads show` lists its runs, newest first, each with its input.

Examples:
  {p} threads --limit 100
  {p} threads show first
)";
constexpr const char* kEditThreadHelp =
    R"(Changes the named members only. An expired thread is deleted by {p} store prune and by a
worker, as soon as its runs have ended.

Examples:
  {p} threads edit first --title "The outage of May"
  {p} threads edit first --metadata '{"customer": 7, "draft": null}'
  {p} threads edit first --expires 30d
)";
constexpr const char* kPreserveHelp =
    R"({p} store prune does not delete a preserved thread.

Examples:
  {p} threads preserve audit-may-2
  {p} threads unpreserve audit-may-2
)";

constexpr std::size_t kInputWidth = 60;

const ListText& thread_words(const CommandContext& world) {
  return list_text_of(world.settings.language);
}

std::string state_of(const CommandContext& world, const RunRow& run) {
  std::string state = run_state_text(world.settings.language, run);
  if (is_left(world, run)) state += ": " + std::string(world.phrases.process_gone);
  if (std::string due = due_text(world, run); !due.empty()) state += ", " + due;
  return state;
}

// The latest change of the thread or of its current run.
Instant activity_of(const ListedThread& listed) {
  Instant at = std::max(listed.thread.created_at, listed.thread.updated_at);
  return listed.run ? std::max(at, listed.run->updated_at) : at;
}

std::vector<std::string> cells_of(const CommandContext& world, const ListedThread& one) {
  std::string state = one.run && !one.code_gone ? state_of(world, *one.run) : "";
  std::string title = one.thread.title.empty() ? "" : "\"" + one.thread.title + "\"";
  std::string status;
  if (one.run) status = status_label(world.settings.language, thread_status(*one.run));
  if (one.run && one.code_gone) status = thread_words(world).code_gone;
  return {one.thread.thread.text,
          one.thread.graph,
          moment_text(world.settings.time_zone, activity_of(one)),
          status,
          state,
          title};
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
  const ListText& words = thread_words(world);
  auto labelled = [&output](std::string_view label, const std::string& text) {
    output.line("  " + std::string(label) + text);
  };
  std::string headline = one_line(thread.thread.text) + "  (" + thread.graph + ")";
  if (found.run) {
    headline += "  ";
    headline += found.code_gone ? thread_words(world).code_gone
                                : status_label(world.settings.language, thread_status(*found.run));
  }
  output.line(headline);
  if (!thread.title.empty()) labelled(words.title, one_line(thread.title));
  if (!thread.metadata.empty()) labelled(words.metadata, one_line(thread.metadata));
  labelled(words.created, moment_text(zone, thread.created_at));
  labelled(words.active, moment_text(zone, activity_of(found)));
  if (thread.expires_at == Instant{}) return;
  labelled(words.expires, moment_text(zone, thread.expires_at) + ", " +
                              relative_text(world.phrases, thread.expires_at, world.clock.now()));
}

class ThreadsCommand final : public Command {
 public:
  void declare(CommandWords& words) override { declare_limit(words, limit_); }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadPage page;
    page.limit = limit_;
    BELAY_CO_TRY(std::vector<ListedThread> listed,
                 co_await world.service.threads(world.who, std::move(page)));
    if (listed.empty()) {
      world.output.line(format_message(thread_words(world).no_threads,
                                       {{"command", command(world, world.program.first_run)}}));
    }
    Table table(thread_words(world).thread_headers);
    Value::Array documents;
    for (const ListedThread& one : listed) {
      table.add(cells_of(world, one));
      documents.push_back(thread_document(one));
    }
    table.show(world.output);
    world.output.document(Value::object({{"threads", std::move(documents)}}));
    co_return ExitCode::done;
  }

 private:
  std::size_t limit_ = 20;
};

class ThreadsShowCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_limit(words, limit_);
    words.option("--before", before_, "Only runs before this one, the last of the page");
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, before_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    RunPage page;
    page.thread = thread;
    page.limit = limit_;
    BELAY_CO_TRY(page.before, co_await named_run(world, thread, before_));
    BELAY_CO_TRY(std::vector<RunRow> runs, co_await world.service.runs(world.who, std::move(page)));
    BELAY_CO_TRY(ListedThread found, co_await world.service.thread(world.who, thread));
    show_settings(world, found);
    Value::Array documents;
    for (const RunRow& run : runs) {
      bool is_gone = found.code_gone && found.run && found.run->run == run.run;
      std::string state =
          is_gone ? std::string(thread_words(world).code_gone) : state_of(world, run);
      world.output.line("  " + run.run.text() + "  " +
                        moment_text(world.settings.time_zone, run.created_at) + "  " +
                        padded(state, 20) + "  " + summary_of(world.output, run));
      documents.push_back(run_summary_with_input(run));
      if (is_gone) mark_code_gone(documents.back());
    }
    Value next;
    if (runs.size() == limit_) {
      next = runs.back().run.text();
      std::string following =
          command(world, {"threads", "show", thread.text, "--before", runs.back().run.text()});
      world.output.line(format_message(thread_words(world).more, {{"command", following}}));
    }
    Value document = thread_document(found);
    document.as_object()->emplace("runs", std::move(documents));
    document.as_object()->emplace("next", std::move(next));
    world.output.document(document);
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::size_t limit_ = 20;
  std::optional<std::string> before_;  // last run of the previous page
};

class ThreadsEditCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    words.text_option("--title", title_, "Title; an empty one removes it");
    words.option("--metadata", metadata_,
                 "JSON object, merged into the metadata; a member that is null is removed");
    words.option("--expires", expires_,
                 "Time until the thread is deleted: 12h, 30d; never: no expiry");
  }

  Result<Done> validate(const CommandValidation&) override {
    BELAY_CHECK(check_thread(thread_));
    if (!title_ && !metadata_ && !expires_) {
      return error(ErrorCode::invalid, "Nothing to change. Use --title, --metadata or --expires.");
    }
    settings_.title = title_;
    if (metadata_) {
      auto metadata = parse_json(*metadata_);
      if (!metadata.ok() || !metadata->as_object()) {
        return error(ErrorCode::invalid, "--metadata is invalid: expected a JSON object.");
      }
      settings_.metadata = *std::move(metadata);
    }
    if (!expires_) return Done{};
    settings_.expires_at = Instant{};
    if (*expires_ == "never") return Done{};
    BELAY_TRY(expires_after_, age_from("--expires", *expires_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    if (expires_after_) settings_.expires_at = world.clock.now() + *expires_after_;
    BELAY_CO_CHECK(co_await world.service.edit_thread(world.who, thread, std::move(settings_)));
    BELAY_CO_TRY(ListedThread found, co_await world.service.thread(world.who, std::move(thread)));
    show_settings(world, found);
    world.output.document(thread_document(found.thread, found.run));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> title_, metadata_, expires_;
  // Parsed from the texts above.
  ThreadSettings settings_;
  std::optional<std::chrono::hours> expires_after_;
};

// `threads preserve` and `threads unpreserve`.
class ThreadsPreserveCommand final : public Command {
 public:
  explicit ThreadsPreserveCommand(bool preserve) : preserve_(preserve) {}

  void declare(CommandWords& words) override { declare_thread(words, thread_); }
  Result<Done> validate(const CommandValidation&) override { return check_thread(thread_); }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_CHECK(co_await world.service.preserve(world.who, std::move(thread), preserve_));
    const ListText& words = thread_words(world);
    world.output.line(format_message(preserve_ ? words.preserved : words.unpreserved,
                                     {{"thread", one_line(thread_)}}));
    world.output.document(Value::object({{"threadId", thread_}, {"preserved", preserve_}}));
    co_return ExitCode::done;
  }

 private:
  bool preserve_;
  std::string thread_;
};

}  // namespace

CommandSpec builtin::threads_command(const Program&) {
  return {.path = {"threads"},
          .line = "List threads, newest first",
          .end = kThreadsHelp,
          .make = make_command<ThreadsCommand>};
}

CommandSpec builtin::threads_show_command(const Program&) {
  return {.path = {"threads", "show"},
          .line = "Show a thread and its runs",
          .end = kThreadsHelp,
          .make = make_command<ThreadsShowCommand>};
}

CommandSpec builtin::threads_edit_command(const Program&) {
  return {.path = {"threads", "edit"},
          .line = "Change a thread's title, metadata or expiry",
          .end = kEditThreadHelp,
          .make = make_command<ThreadsEditCommand>};
}

CommandSpec builtin::threads_preserve_command(const Program&) {
  return {.path = {"threads", "preserve"},
          .line = "Exempt a thread from pruning",
          .end = kPreserveHelp,
          .make = [] { return std::make_unique<ThreadsPreserveCommand>(true); }};
}

CommandSpec builtin::threads_unpreserve_command(const Program&) {
  return {.path = {"threads", "unpreserve"},
          .line = "Allow a thread to be pruned again",
          .end = kPreserveHelp,
          .make = [] { return std::make_unique<ThreadsPreserveCommand>(false); }};
}

}  // namespace belay::cli
