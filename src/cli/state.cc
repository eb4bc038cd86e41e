// belay state: a run as it stands, or as it stood after one of its commits.

#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

// The run as its commit says that it stood; what the row alone knows is of the newest.
Task<Result<RunView>> view_at(World& world, ThreadId thread, std::uint64_t seq) {
  BELAY_CO_TRY(RunView view, co_await world.runtime.status_at(tenant_of(world), thread, seq));
  std::function<Result<std::vector<CheckpointRow>>(Snapshot&)> reader =
      [tenant = tenant_of(world), run = view.row.run, seq](Snapshot& store) {
        CheckpointFilter filter;
        filter.tenant = tenant;
        filter.run = run;
        filter.seq = seq;
        return store.checkpoints(filter);
      };
  BELAY_CO_TRY(std::vector<CheckpointRow> rows,
               co_await read<std::vector<CheckpointRow>>(world.store, std::move(reader)));
  if (rows.empty() || view.row.seq == seq) co_return std::move(view);
  const CheckpointRow& then = rows.front();
  view.row.seq = then.seq;
  view.row.epoch = then.epoch;
  view.row.session = then.session;
  view.row.checkpoint = then.id;
  view.row.status = then.status;
  view.row.node = then.node;
  view.row.retry_count = then.retry_count;
  view.row.updated_at = then.created_at;
  for (std::string* text :
       {&view.row.reason, &view.row.outcome, &view.row.error_code, &view.row.error}) {
    text->clear();
  }
  co_return std::move(view);
}

Task<Result<RunView>> view_of(World& world, ThreadId thread, std::optional<std::uint64_t> at) {
  if (at) co_return co_await view_at(world, std::move(thread), *at);
  co_return co_await world.runtime.status(tenant_of(world), std::move(thread));
}

}  // namespace

Task<Answered> show_state(World& world, StateOf wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_TRY(RunView view, co_await view_of(world, std::move(thread), wanted.seq));
  show_run(world, view);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
