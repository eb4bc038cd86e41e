// `belay resume`: continues the run of a thread, or all orphaned runs.

#include <algorithm>

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

Task<Result<RunView>> resume_one(CommandContext& world, ThreadId thread) {
  world.progress.begins(thread);
  auto view = co_await world.service.resume(thread);
  world.progress.rests(thread);
  co_return std::move(view);
}

// Reports that a delayed run starts early: `resume` does not wait for its due time.
Task<Result<Done>> show_early(CommandContext& world, ThreadId thread) {
  auto row = co_await world.service.run_of(thread, std::nullopt);
  // resume() reports any error of the thread.
  if (!row.ok() || row->status != RunStatus::queued) co_return Done{};
  auto due = due_of(*row);
  if (!due || *due <= world.clock.now()) co_return Done{};
  std::string time = moment_text(world.settings.time_zone, *due);
  world.output.progress(
      format_message(world.phrases.begins_early, {{"thread", thread.text}, {"time", time}}));
  co_return Done{};
}

Task<CommandResult> resume_named(CommandContext& world, ThreadId thread) {
  BELAY_CO_TRY(std::vector<ThreadId> left, co_await world.service.orphaned_threads(std::nullopt));
  if (std::find(left.begin(), left.end(), thread) != left.end()) {
    world.output.progress(format_message(world.phrases.claiming, {{"thread", thread.text}}));
  }
  BELAY_CO_CHECK(co_await show_early(world, thread));
  BELAY_CO_TRY(RunView view, co_await resume_one(world, std::move(thread)));
  show_run(world, view);
  world.output.document(run_document(world.program, view));
  co_return end_of(world, view);
}

// Returns the more important of two exit codes, for a command with several runs.
ExitCode heavier(ExitCode one, ExitCode other) {
  for (ExitCode code :
       {ExitCode::store, ExitCode::failed, ExitCode::cancelled, ExitCode::waiting}) {
    if (one == code || other == code) return code;
  }
  return one;
}

Task<CommandResult> resume_all(CommandContext& world) {
  BELAY_CO_TRY(std::vector<ThreadId> left, co_await world.service.orphaned_threads(std::nullopt));
  if (left.empty()) world.output.line(world.phrases.nothing_to_resume);
  ExitCode code = ExitCode::done;
  Value::Array documents;
  for (const ThreadId& thread : left) {
    world.output.progress(format_message(world.phrases.claiming, {{"thread", thread.text}}));
    auto view = co_await resume_one(world, thread);
    if (!view.ok() && view.error().code == ErrorCode::conflict) {
      // Another process has claimed the run first and executes it.
      world.output.progress(view.error().message);
      continue;
    }
    if (!view.ok()) co_return std::move(view).error();
    show_run(world, *view);
    documents.push_back(run_document(world.program, *view));
    code = heavier(code, end_of(world, *view));
  }
  world.output.document(Value::object({{"resumed", std::move(documents)}}));
  co_return code;
}

}  // namespace

Task<CommandResult> resume_runs(CommandContext& world, Resume wanted) {
  if (wanted.all) co_return co_await resume_all(world);
  ThreadId thread(std::move(wanted.thread));
  co_return co_await resume_named(world, std::move(thread));
}

}  // namespace belay::cli
