// `belay why`: shows what a run waits for, and the command that ends the wait.

#include <algorithm>

#include "base/text_in.h"
#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kWhyHelp =
    R"(Shows the causes for which the thread's current run, or --run, does not advance: a decision,
a retry, a timer, a limit, its place in the queue, a paused queue, an earlier run, a worker that is
gone. Lines with "or" are alternatives: one of them is enough. All others have to go.

Examples:
  {p} why mail-17
  {p} why mail-17 --json | jq -r '.chain[].cause'
)";

constexpr std::size_t kCauseWidth = 13;

using CommandLines = std::vector<std::vector<std::string>>;

// `approvals show` lists the commands of an approval with other choices, or with a form.
Task<CommandLines> commands_of_approval(CommandContext& world, std::string id) {
  Whose any;
  std::string named = id;
  auto row = co_await world.service.approval(world.who, std::move(named), std::move(any));
  auto terms = row.ok() ? terms_of(*row) : Result<ApprovalTerms>(row.error());
  CommandLines lines;
  if (terms.ok() && terms->is_plain() && terms->answer_schema.is_null()) {
    lines = {{"approvals", "approve", id}, {"approvals", "reject", id}};
    for (std::vector<std::string>& words : lines) add_role(world, *row, words);
  } else {
    lines = {{"approvals", "show", id}};
  }
  co_return std::move(lines);
}

// The commands that end a wait, except for an approval; empty: none of them ends it.
CommandLines commands_against(const Value& wait, const std::string& thread) {
  std::string cause = text_in(wait, "cause");
  if (cause == "breakpoint" || cause == "quarantined" || cause == "lease") {
    return {{"resume", thread}};
  }
  if (cause == "paused_queue") return {{"queue", "resume", text_in(wait, "queue")}};
  if (cause == "no_worker") return {{"worker"}};
  if (cause == "damage") return {{"check"}};
  return {};
}

class WhyCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, run_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, run_));
    BELAY_CO_TRY(Value document, co_await world.service.why(world.who, std::move(thread), run));
    show(world, document);
    const Value::Array none;
    const Value::Array* chain = std::as_const(document)["chain"].as_array();
    for (const Value& wait : chain ? *chain : none) {
      CommandLines lines = commands_against(wait, thread_);
      if (text_in(wait, "cause") == "approval") {
        std::string id = text_in(wait, "interruptId");
        lines = co_await commands_of_approval(world, std::move(id));
      }
      for (const auto& words : lines) {
        world.output.line("  " + world.output.styled(Style::bold, command(world, words)));
      }
    }
    world.output.document(document);
    co_return ExitCode::done;
  }

 private:
  void show(CommandContext& world, const Value& document) {
    std::string since;
    if (auto at = instant_from(text_in(document, "since"))) {
      since = ", " + relative_text(world.phrases, *at, world.clock.now());
    }
    world.output.line(world.output.styled(Style::bold, one_line(text_in(document, "agent"))) + " " +
                      one_line(thread_) + ": " + text_in(document, "status") + since);
    const Value::Array* chain = document["chain"].as_array();
    if (!chain) return;
    for (const Value& wait : *chain) show_wait(world, document, wait);
    if (auto more = document["more"].as_int(); more && *more > 0) {
      world.output.line("  and " + std::to_string(*more) + " more");
    }
  }

  void show_wait(CommandContext& world, const Value& document, const Value& wait) {
    bool is_of_earlier = text_in(wait, "runId") != text_in(document, "runId");
    const Value::Array& chain = *document["chain"].as_array();
    bool is_first = &wait == &chain.front();
    bool is_or = !is_first && wait["alternative"] == Value(true);
    std::string text = one_line(text_in(wait, "text"));
    if (auto until = instant_from(text_in(wait, "until"))) {
      text += " (" + moment_text(world.settings.time_zone, *until) + ", " +
              relative_text(world.phrases, *until, world.clock.now()) + ")";
    }
    world.output.line(std::string(is_of_earlier ? "    " : "  ") +
                      padded(text_in(wait, "cause"), kCauseWidth) + "  " + (is_or ? "or " : "") +
                      text);
  }

  std::string thread_;
  std::optional<std::string> run_;
};

}  // namespace

CommandSpec builtin::why_command(const Program&) {
  return {.path = {"why"},
          .line = "Show why a run does not advance",
          .end = kWhyHelp,
          .make = make_command<WhyCommand>};
}

}  // namespace belay::cli
