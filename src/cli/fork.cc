// `belay fork`: starts a run from a commit of another run, or previews it.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/run_input.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

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

}  // namespace

Task<CommandResult> fork_thread(CommandContext& world, Fork wanted) {
  ForkOptions options;
  options.from = ThreadId(std::move(wanted.thread));
  BELAY_CO_TRY(options.run, co_await named_run(world, options.from, std::move(wanted.run)));
  options.seq = wanted.seq;
  options.copy = wanted.copy;
  options.roles = std::move(wanted.roles);
  // If no user is named, the fork belongs to the owner of the original thread.
  if (world.settings.user != UserId("local")) options.user = world.settings.user;
  options.thread = ThreadId(wanted.new_thread.value_or(random_uuid(world.random).text()));
  ThreadId from = options.from;
  BELAY_CO_TRY(RunRow origin, co_await world.service.run_of(std::move(from), options.run));
  BELAY_CO_TRY(options.edits, read_edits(world, origin.graph, wanted.edits));
  if (wanted.preview) {
    BELAY_CO_TRY(ForkPreview preview, co_await world.service.preview(std::move(options)));
    show_preview(world, preview);
    co_return ExitCode::done;
  }
  ThreadId thread = options.thread;
  world.progress.begins(thread);
  auto view = co_await world.service.fork(std::move(options));
  world.progress.rests(thread);
  if (!view.ok()) co_return std::move(view).error();
  show_run(world, *view);
  world.output.document(run_document(world.program, *view));
  co_return end_of(world, *view);
}

}  // namespace belay::cli
