// belay store stats, compact and prune; belay threads preserve and unpreserve.

#include "cli/commands.h"
#include "cli/count_text.h"
#include "cli/show.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

std::string size_text(std::uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KB"; }

}  // namespace

Task<CommandResult> preserve_thread(CommandContext& world, Preserve wanted) {
  ThreadId thread(wanted.thread);
  BELAY_CO_CHECK(co_await world.service.preserve(std::move(thread), wanted.preserve));
  world.output.line("Thread \"" + one_line(wanted.thread) +
                    (wanted.preserve ? "\" is preserved." : "\" is not preserved."));
  world.output.document(
      Value::object({{"threadId", wanted.thread}, {"preserved", wanted.preserve}}));
  co_return ExitCode::done;
}

Task<CommandResult> show_store_statistics(CommandContext& world) {
  BELAY_CO_TRY(StoreStatistics found, co_await world.service.statistics());
  for (const TableStatistics& table : found.tables) {
    world.output.line(padded(table.name, 18) + padded(count_text(table.rows, "row"), 16) +
                      size_text(table.bytes));
  }
  world.output.line(padded("all", 34) + size_text(found.bytes) + ", of which " +
                    size_text(found.free_bytes) + " free");
  world.output.document(statistics_document(found));
  co_return ExitCode::done;
}

Task<CommandResult> compact_store(CommandContext& world) {
  BELAY_CO_TRY(Compaction done, co_await world.service.compact());
  world.output.line("From " + size_text(done.bytes_before) + " to " + size_text(done.bytes_after) +
                    ".");
  world.output.document(compaction_document(done));
  co_return ExitCode::done;
}

Task<CommandResult> prune_store(CommandContext& world, StorePrune wanted) {
  RetentionPolicy policy;
  policy.keep_finished = wanted.keep;
  policy.dry_run = wanted.dry_run;
  BELAY_CO_TRY(Pruning done, co_await world.service.prune(policy));
  const RetentionReport& report = done.threads;
  std::string threads = count_text(report.threads, "thread");
  std::string said = wanted.dry_run ? "Would delete " : "Deleted ";
  said += threads + " and " + count_text(report.runs, "run") + ".";
  if (report.preserved > 0) said += " Preserved: " + count_text(report.preserved, "thread") + ".";
  if (report.records > 0) said += " Expired records: " + std::to_string(report.records) + ".";
  if (done.large_values > 0) said += " Large values: " + std::to_string(done.large_values) + ".";
  world.output.line(said);
  world.output.document(pruning_document(done));
  co_return ExitCode::done;
}

}  // namespace belay::cli
