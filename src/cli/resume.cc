// `belay resume`: continues the run of a thread, or all orphaned runs.

#include <algorithm>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/exit_code.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kResumeHelp =
    R"(Resumes a run whose process died, from its last commit. A run that a live process owns
remains with that process (exit code 4).

A run whose agent refuses the changes of its materials (model, prompts, tools) continues
with --accept-changes. The consent is recorded with your name.

Examples:
  {p} resume first
  {p} resume first --accept-changes
  {p} resume --all
)";

Task<Result<RunView>> resume_one(CommandContext& world, ThreadId thread,
                                 std::optional<Consent> consent = std::nullopt) {
  world.progress.begins(thread);
  std::optional<Breakpoints> unchanged;
  auto view = co_await world.service.resume(world.who, thread, std::move(unchanged), std::nullopt,
                                            std::move(consent));
  world.progress.rests(thread);
  co_return std::move(view);
}

// Reports that a delayed run starts early: `resume` does not wait for its due time.
Task<Result<Done>> show_early(CommandContext& world, ThreadId thread) {
  auto row = co_await world.service.run_of(world.who, thread, std::nullopt);
  // resume() reports any error of the thread.
  if (!row.ok() || row->status != RunStatus::queued) co_return Done{};
  auto due = due_of(*row);
  if (!due || *due <= world.clock.now()) co_return Done{};
  std::string time = moment_text(world.settings.time_zone, *due);
  world.output.progress(
      format_message(world.phrases.begins_early, {{"thread", thread.text}, {"time", time}}));
  co_return Done{};
}

Task<CommandResult> resume_named(CommandContext& world, ThreadId thread,
                                 std::optional<Consent> consent) {
  BELAY_CO_TRY(std::vector<ThreadId> left,
               co_await world.service.orphaned_threads(world.who, std::nullopt));
  if (std::find(left.begin(), left.end(), thread) != left.end()) {
    world.output.progress(format_message(world.phrases.claiming, {{"thread", thread.text}}));
  }
  BELAY_CO_CHECK(co_await show_early(world, thread));
  BELAY_CO_TRY(RunView view, co_await resume_one(world, std::move(thread), std::move(consent)));
  show_run(world, view);
  world.output.document(run_document(world.program, view));
  co_return end_of(world, view);
}

// Returns the more important of two exit codes, for a command with several runs.
ExitCode heavier(ExitCode one, ExitCode other) {
  for (ExitCode code : {ExitCode::store, ExitCode::bad_input, ExitCode::failed, ExitCode::cancelled,
                        ExitCode::waiting}) {
    if (one == code || other == code) return code;
  }
  return one;
}

// True if the error can be that of one run only, so that the others can be resumed.
bool concerns_one_run(ErrorCode code) {
  return code == ErrorCode::invalid || code == ErrorCode::not_found || code == ErrorCode::corrupt;
}

Task<CommandResult> resume_all(CommandContext& world) {
  BELAY_CO_TRY(std::vector<ThreadId> left,
               co_await world.service.orphaned_threads(world.who, std::nullopt));
  if (left.empty()) world.output.line(world.phrases.nothing_to_resume);
  ExitCode code = ExitCode::done;
  Value::Array documents, failures;
  for (const ThreadId& thread : left) {
    world.output.progress(format_message(world.phrases.claiming, {{"thread", thread.text}}));
    auto view = co_await resume_one(world, thread);
    if (!view.ok() && view.error().code == ErrorCode::conflict) {
      // Another process has claimed the run first and executes it.
      world.output.progress(view.error().message);
      continue;
    }
    if (!view.ok() && concerns_one_run(view.error().code)) {
      world.output.print_error(view.error().message);
      failures.push_back(
          Value::object({{"threadId", thread.text}, {"error", view.error().message}}));
      code = heavier(code, exit_code_of(view.error().code));
      continue;
    }
    if (!view.ok()) co_return std::move(view).error();
    show_run(world, *view);
    documents.push_back(run_document(world.program, *view));
    code = heavier(code, end_of(world, *view));
  }
  world.output.document(
      Value::object({{"resumed", std::move(documents)}, {"failed", std::move(failures)}}));
  co_return code;
}

class ResumeCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    CommandWord thread =
        words.argument("THREAD", thread_, "The thread").completes(NamesToComplete::threads);
    CommandWord all = words.flag("--all", all_, "All orphaned runs").excludes(thread);
    words.flag("--accept-changes", accepts_, "Continue although materials of the run have changed")
        .excludes(all);
    words.option("--by", by_, "With --accept-changes: your name (default: login name)");
  }

  Result<Done> validate(const CommandValidation& inputs) override {
    if (by_ && !accepts_) {
      return error(ErrorCode::invalid, "--by names who accepts changes: add --accept-changes.");
    }
    BELAY_CHECK(check_decider(by_));
    if (all_) return Done{};
    if (!thread_.empty()) return check_thread(thread_);
    const std::string& call = inputs.settings.call;
    return error(ErrorCode::invalid,
                 "Missing thread. Use " + call + " resume THREAD or " + call + " resume --all.");
  }

  Task<CommandResult> run(CommandContext& world) override {
    if (all_) return resume_all(world);
    std::optional<Consent> consent;
    if (accepts_) consent = Consent{acting_name(world, by_)};
    return resume_named(world, ThreadId(thread_), std::move(consent));
  }

 private:
  std::string thread_;
  bool all_ = false;
  bool accepts_ = false;
  std::optional<std::string> by_;
};

}  // namespace

CommandSpec builtin::resume_command(const Program&) {
  return {.path = {"resume"},
          .line = "Resume orphaned runs",
          .end = kResumeHelp,
          .make = make_command<ResumeCommand>};
}

}  // namespace belay::cli
