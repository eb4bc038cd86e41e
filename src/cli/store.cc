// belay store stats, compact and prune; belay threads preserve and unpreserve.

#include "belay/storage.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

std::string count_text(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string size_text(std::uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KB"; }

}  // namespace

Task<Answered> preserve_thread(World& world, Preserve wanted) {
  ThreadId thread(wanted.thread);
  std::function<Result<bool>(Snapshot&)> reader = [tenant = tenant_of(world),
                                                   thread](Snapshot& view) -> Result<bool> {
    ThreadFilter filter;
    filter.tenant = tenant;
    filter.thread = thread;
    BELAY_TRY(auto rows, view.threads(filter));
    return !rows.empty();
  };
  BELAY_CO_TRY(bool exists, co_await read<bool>(world.store, std::move(reader)));
  if (!exists) {
    co_return error(ErrorCode::invalid, "There is no thread \"" + one_line(wanted.thread) +
                                            "\"; belay threads lists all.");
  }
  Commit commit;
  commit.tenant = tenant_of(world);
  commit.rows.preserve = {thread, wanted.preserve};
  auto outcome = co_await world.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  world.output.line(one_line(wanted.thread) + (wanted.preserve
                                                   ? " is kept whatever its age."
                                                   : " is pruned once it ended long ago."));
  world.output.document(
      Value::object({{"threadId", wanted.thread}, {"preserved", wanted.preserve}}));
  co_return ExitCode::done;
}

Task<Answered> show_store_statistics(World& world) {
  BELAY_CO_TRY(StoreStatistics found, world.store.statistics());
  Value::Array documents;
  for (const TableStatistics& table : found.tables) {
    world.output.line(padded(table.name, 18) + padded(count_text(table.rows, "row"), 16) +
                      size_text(table.bytes));
    documents.push_back(
        Value::object({{"name", table.name}, {"rows", table.rows}, {"bytes", table.bytes}}));
  }
  world.output.line(padded("all", 34) + size_text(found.bytes) + ", of which " +
                    size_text(found.free_bytes) + " free");
  world.output.document(Value::object(
      {{"tables", std::move(documents)}, {"bytes", found.bytes}, {"freeBytes", found.free_bytes}}));
  co_return ExitCode::done;
}

Task<Answered> compact_store(World& world) {
  BELAY_CO_TRY(StoreStatistics before, world.store.statistics());
  BELAY_CO_CHECK(world.store.compact());
  BELAY_CO_TRY(StoreStatistics after, world.store.statistics());
  world.output.line("From " + size_text(before.bytes) + " to " + size_text(after.bytes) + ".");
  world.output.document(
      Value::object({{"bytesBefore", before.bytes}, {"bytesAfter", after.bytes}}));
  co_return ExitCode::done;
}

Task<Answered> prune_store(World& world, StorePrune wanted) {
  RetentionPolicy policy;
  policy.keep_finished = wanted.keep;
  policy.dry_run = wanted.dry_run;
  TenantId tenant = tenant_of(world);
  BELAY_CO_TRY(RetentionReport report,
               co_await apply_retention(world.store, tenant, policy, world.clock.now()));
  std::string threads = count_text(report.threads, "thread");
  std::string said = wanted.dry_run ? threads + " would be forgotten" : "Forgot " + threads;
  said += ", with " + count_text(report.runs, "run") + ".";
  if (report.preserved > 0) said += " Preserved: " + count_text(report.preserved, "thread") + ".";
  BlobReport blobs;
  if (!wanted.dry_run) {
    Sealing sealing = world.sealing;
    BELAY_CO_TRY(blobs, co_await forget_unused_blobs(world.stored, world.random, std::move(sealing),
                                                     tenant));
  }
  if (blobs.forgotten > 0) said += " Large values: " + std::to_string(blobs.forgotten) + ".";
  world.output.line(said);
  world.output.document(Value::object({{"threads", report.threads},
                                       {"largeValues", blobs.forgotten},
                                       {"runs", report.runs},
                                       {"preserved", report.preserved},
                                       {"dryRun", wanted.dry_run}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
