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
  Whose whose;
  whose.approvals = UserId();  // those are not read
  BELAY_CO_TRY(StatusSummary summary, co_await world_.service.standing(world_.who, whose));
  Log* log = world_.local->telemetry.log;
  for (const RunRow& run : summary.code_gone) {
    if (!reported_.insert(run.run).second) continue;
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
  co_return Done{};
}

}  // namespace belay::cli
