// belay history: every commit of a run, newest first.

#include "cli/documents.h"
#include "cli/find_run.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

struct RunHistory {
  RunRow run;
  std::vector<CheckpointRow> checkpoints;
};

Task<Result<RunHistory>> find_history(World& world, ThreadId thread, std::size_t limit) {
  std::function<Result<RunHistory>(Snapshot&)> reader =
      [tenant = tenant_of(world), thread, limit,
       call = world.settings.call](Snapshot& view) -> Result<RunHistory> {
    RunHistory history;
    BELAY_TRY(history.run, run_of_thread(view, tenant, thread, call));
    CheckpointFilter filter;
    filter.tenant = tenant;
    filter.run = history.run.run;
    filter.limit = limit;
    BELAY_TRY(history.checkpoints, view.checkpoints(filter));
    return history;
  };
  co_return co_await read<RunHistory>(world.store, std::move(reader));
}

}  // namespace

Task<Answered> show_history(World& world, History wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_TRY(RunHistory history, co_await find_history(world, std::move(thread), wanted.limit));
  Value::Array documents;
  for (const CheckpointRow& row : history.checkpoints) {
    std::string number = std::to_string(row.seq);
    std::string at = to_text(row.created_at);
    world.output.line(std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') + number + "  " +
                      at.substr(0, 10) + " " + at.substr(11, 12) + "  " +
                      padded(name_of(row.kind), 8) + "  " + padded(row.node, 18) + "  " +
                      std::string(word_for(world.phrases, row.status)));
    documents.push_back(checkpoint_document(row));
  }
  world.output.document(Value::object({{"threadId", history.run.thread.text},
                                       {"runId", history.run.run.text()},
                                       {"agent", history.run.graph},
                                       {"checkpoints", std::move(documents)}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
