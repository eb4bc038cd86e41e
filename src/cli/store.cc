// `belay store`: stats, compact and prune.

#include "belay/command.h"
#include "belay/storage.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/count_text.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "service/json_encode.h"

namespace belay::cli {
namespace {

constexpr const char* kStoreHelp =
    R"(Examples:
  {p} store stats
  {p} store prune --older-than 90d --dry-run
  {p} store compact               # after pruning, to shrink the file
  {p} store encrypt --key-file keys
)";
constexpr const char* kStorePruneHelp =
    R"(Deletes threads whose runs have all ended, the last one long ago, with all of their rows. It
does not delete threads with a waiting run or with undelivered messages, preserved threads, and
notes, summaries and routines.

Examples:
  {p} store prune --dry-run
  {p} store prune --older-than 90d
)";

std::string size_text(std::uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KB"; }

class StoreStatsCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(StoreStatistics found, co_await world.service.statistics(world.who));
    for (const TableStatistics& table : found.tables) {
      world.output.line(padded(table.name, 18) + padded(count_text(table.rows, "row"), 16) +
                        size_text(table.bytes));
    }
    world.output.line(padded("all", 34) + size_text(found.bytes) + ", of which " +
                      size_text(found.free_bytes) + " free");
    world.output.document(statistics_document(found));
    co_return ExitCode::done;
  }
};

class StoreCompactCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(Compaction done, co_await world.service.compact(world.who));
    world.output.line("From " + size_text(done.bytes_before) + " to " +
                      size_text(done.bytes_after) + ".");
    world.output.document(compaction_document(done));
    co_return ExitCode::done;
  }
};

class StorePruneCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.option("--older-than", older_than_,
                 "Minimum time since their last commit: 12h, 30d (30d)");
    words.flag("--dry-run", dry_run_, "Report only, delete nothing");
  }
  Result<Done> validate(const CommandValidation&) override {
    if (!older_than_) return Done{};
    BELAY_TRY(keep_, age_from("--older-than", *older_than_));
    return Done{};
  }

  Task<CommandResult> run(CommandContext& world) override {
    RetentionPolicy policy;
    policy.keep_finished = keep_;
    policy.dry_run = dry_run_;
    BELAY_CO_TRY(Pruning done, co_await world.service.prune(world.who, policy));
    const RetentionReport& report = done.threads;
    std::string threads = count_text(report.threads, "thread");
    std::string said = dry_run_ ? "Would delete " : "Deleted ";
    said += threads + " and " + count_text(report.runs, "run") + ".";
    if (report.preserved > 0) said += " Preserved: " + count_text(report.preserved, "thread") + ".";
    if (report.records > 0) said += " Expired records: " + std::to_string(report.records) + ".";
    if (done.large_values > 0) said += " Large values: " + std::to_string(done.large_values) + ".";
    world.output.line(said);
    world.output.document(pruning_document(done));
    co_return ExitCode::done;
  }

 private:
  std::optional<std::string> older_than_;
  bool dry_run_ = false;
  std::chrono::hours keep_ = RetentionPolicy{}.keep_finished;  // parsed `older_than_`
};

}  // namespace

CommandSpec builtin::store_command(const Program&) {
  return {.path = {"store"},
          .line = "Measure, compact, prune and encrypt the store",
          .end = kStoreHelp};
}

CommandSpec builtin::store_stats_command(const Program&) {
  return {.path = {"store", "stats"},
          .line = "Show rows and bytes per table",
          .end = kStoreHelp,
          .make = make_command<StoreStatsCommand>};
}

CommandSpec builtin::store_compact_command(const Program&) {
  return {.path = {"store", "compact"},
          .line = "Return unused space to the file system",
          .end = kStoreHelp,
          .make = make_command<StoreCompactCommand>};
}

CommandSpec builtin::store_prune_command(const Program&) {
  return {.path = {"store", "prune"},
          .line = "Delete threads that ended long ago",
          .end = kStorePruneHelp,
          .make = make_command<StorePruneCommand>};
}

}  // namespace belay::cli
