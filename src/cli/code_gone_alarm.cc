#include "cli/code_gone_alarm.h"

#include "driver/run_driver.h"
#include "load/declared_programs.h"

namespace belay::cli {
namespace {

constexpr std::chrono::minutes kBetweenLooks{1};

}  // namespace

Task<Done> CodeGoneAlarm::run() {
  while (true) {
    auto declared = co_await declare();
    if (declared.ok()) (void)co_await look();
    co_await sleep_for(kBetweenLooks);
  }
}

Task<Result<Done>> CodeGoneAlarm::declare() {
  // A test that pauses the process at one of its commits counts those of runs.
  if (is_declared_ || world_.settings.pause.commit > 0) co_return Done{};
  auto graphs = std::make_shared<GraphRegistry>();
  for (const auto& graph : world_.graphs) graphs->add(graph);
  BELAY_CO_TRY(std::vector<RecordWrite> records,
               co_await program_declaration(world_.local->store, world_.who.tenant,
                                            world_.local->runtime.session(), std::move(graphs)));
  BELAY_CO_CHECK(co_await save_records(world_.local->store, world_.who.tenant, std::move(records)));
  is_declared_ = true;
  co_return Done{};
}

Task<Result<Done>> CodeGoneAlarm::look() {
  auto graphs = std::make_shared<GraphRegistry>();
  for (const auto& graph : world_.graphs) graphs->add(graph);
  BELAY_CO_TRY(OtherPrograms others, co_await other_programs(world_.local->store, world_.who.tenant,
                                                             world_.local->runtime.session()));
  for (std::size_t page = 0; page < pages_per_look; ++page) {
    // A store can call the reader twice.
    auto next = std::make_shared<CodeGoneCursor>();
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
        [graphs, others, next, from = cursor_, tenant = world_.who.tenant](Snapshot& view) {
          *next = from;
          return page_without_code(view, *graphs, others, tenant, *next);
        };
    BELAY_CO_TRY(std::vector<RunRow> gone,
                 co_await read<std::vector<RunRow>>(world_.local->store, std::move(reader)));
    cursor_ = *next;
    for (const RunRow& run : gone) report(run);
    if (cursor_.is_at_end) break;
  }
  co_return Done{};
}

void CodeGoneAlarm::report(const RunRow& run) {
  if (!reported_.insert(run.run).second) return;
  Log* log = world_.local->telemetry.log;
  std::string text =
      "No live process can continue the run: start a program that has its agent, "
      "in its version or with an upgrade from it.";
  if (!log) {
    world_.output.progress("Run " + run.run.text() + " of thread \"" + run.thread.text +
                           "\", agent \"" + run.graph + "\": " + text);
  } else if (log->wants(LogLevel::warning)) {
    log->write({LogLevel::warning,
                "run.code_gone",
                std::move(text),
                {{"run", run.run.text()}, {"thread", run.thread.text}, {"agent", run.graph}}});
  }
}

}  // namespace belay::cli
