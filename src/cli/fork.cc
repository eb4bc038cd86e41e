// `belay fork`: starts a run from a commit of another run, or previews it.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/run_input.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kForkHelp =
    R"(Starts a run in a new thread, from the state of another run after one of its commits, which
can be edited. The other run does not change. --preview reports which nodes would run again, and
which effects have already happened. With edits, the fork starts before an approval that it would
skip, and requests it again.

Examples:
  {p} fork first --preview
  {p} fork first --at 2 --edit topic="the outage of May" --thread second
  {p} fork first --copy --thread second   # current state; an ended run remains ended
)";

// Parses the edits with the channel types of the thread's graph; null without edits.
Result<Value> read_edits(const CommandContext& world, const std::string& graph,
                         const std::vector<std::string>& pieces) {
  if (pieces.empty()) return Value();
  for (const auto& each : world.graphs) {
    if (each->name == graph) return read_run_input(*each, pieces, "--edit");
  }
  return error(ErrorCode::not_found, "Cannot edit the state of unknown agent \"" + graph + "\".");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "-" : text;
}

void show_preview(CommandContext& world, const ForkPreview& preview) {
  Output& output = world.output;
  output.line("After commit " + std::to_string(preview.seq) + " of thread " +
              one_line(preview.thread.text) + ".");
  output.line("  first nodes:      " + joined(preview.first_nodes));
  output.line("  completed since:  " + joined(preview.repeated_nodes));
  for (const EffectRow& row : preview.effects) {
    output.line("  effect:           " + one_line(row.name) + " of " + row.node + " (" +
                std::string(name_of(row.effect_class)) + "): " + std::string(name_of(row.status)));
  }
  for (const OutboxRow& row : preview.messages) {
    output.line("  message:          " + one_line(row.topic) + ": " +
                std::string(name_of(row.status)));
  }
  for (const ApprovalRow& row : preview.approvals) {
    output.line("  asked:            " + row.node + ": " +
                std::string(status_label(world.phrases, row.status)));
  }
  output.document(preview_document(preview, world.program.presentation.approval_document));
}

class ForkCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("THREAD", thread_, "The thread to fork")
        .required()
        .completes(NamesToComplete::threads);
    declare_run(words, run_);
    words.option("--at", at_, "Commit to start from, by its number in history (default: newest)");
    words.option("--edit", edits_, "Changed channels: name=value, @file.json, or -; repeatable");
    words.option("--thread", new_thread_, "New thread (default: a random one)").former_name("--as");
    declare_roles(words, roles_);
    words.flag("--preview", preview_, "Report what would be repeated, start nothing");
    words.flag("--copy", copy_, "Copy the current state: an ended run remains ended");
  }

  Result<Done> validate(const CommandValidation& inputs) override {
    BELAY_CHECK(check_thread_and_run(thread_, run_));
    BELAY_CHECK(complete_roles(inputs.settings, roles_));
    if (new_thread_) BELAY_CHECK(check_thread(*new_thread_));
    if (copy_ && (at_ || !edits_.empty() || preview_)) {
      return error(ErrorCode::invalid,
                   "--copy copies the current state of a thread. Omit --at, --edit and --preview.");
    }
    BELAY_TRY(seq_, seq_from(at_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    ForkOptions options;
    options.from = ThreadId(thread_);
    BELAY_CO_TRY(options.run, co_await named_run(world, options.from, run_));
    options.seq = seq_;
    options.copy = copy_;
    options.roles = std::move(roles_);
    // If no user is named, the fork belongs to the owner of the original thread.
    if (world.settings.user != UserId("local")) options.user = world.settings.user;
    options.thread = ThreadId(new_thread_.value_or(random_uuid(world.random).text()));
    ThreadId from = options.from;
    BELAY_CO_TRY(RunRow origin,
                 co_await world.service.run_of(world.who, std::move(from), options.run));
    BELAY_CO_TRY(options.edits, read_edits(world, origin.graph, edits_));
    if (preview_) {
      BELAY_CO_TRY(ForkPreview preview,
                   co_await world.service.preview(world.who, std::move(options)));
      show_preview(world, preview);
      co_return ExitCode::done;
    }
    ThreadId thread = options.thread;
    world.progress.begins(thread);
    auto view = co_await world.service.fork(world.who, std::move(options));
    world.progress.rests(thread);
    if (!view.ok()) co_return std::move(view).error();
    show_run(world, *view);
    world.output.document(run_document(world.program, *view));
    co_return end_of(world, *view);
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::optional<std::string> at_;
  std::vector<std::string> edits_;  // name=value, @file, -
  std::optional<std::string> new_thread_;
  std::vector<std::string> roles_;  // override those of the settings
  bool preview_ = false;
  bool copy_ = false;
  std::optional<std::uint64_t> seq_;  // parsed `at_`
};

}  // namespace

CommandSpec builtin::fork_command(const Program&) {
  return {.path = {"fork"},
          .line = "Start a new thread from a commit of another",
          .end = kForkHelp,
          .traits = {.uses_server_agents = true},
          .make = make_command<ForkCommand>};
}

}  // namespace belay::cli
