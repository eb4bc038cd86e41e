#include "agents/research/analysis/checkpoint_sweep.h"

#include "agents/research/checkpoints/retention.h"

namespace belay::research {
namespace {

Task<Result<Update<CheckpointSweep>>> sweep_once(std::shared_ptr<const ResearchParts> parts,
                                                 const CheckpointSweep& state, Context& context) {
  auto rows = checkpoint_rows(context);
  CheckpointRetention retention(*rows, parts->checkpoint_cache.get(), parts->checkpoints);
  std::string after = state.after;
  Instant now = context.now();
  BELAY_CO_TRY(SweepPage page, co_await retention.sweep_page(std::move(after), now));
  // An agent with more checkpoints than one commit removes is on the same page again.
  bool is_same = page.removed.is_unfinished;
  std::string next = is_same ? state.after : page.next;
  bool is_ended = next.empty() && !is_same;
  context.outcome("swept");
  co_return set(&CheckpointSweep::after, std::move(next))
      .add(&CheckpointSweep::pages, 1)
      .add(&CheckpointSweep::analyses, static_cast<std::int64_t>(page.analyses))
      .add(&CheckpointSweep::checkpoints, static_cast<std::int64_t>(page.removed.checkpoints))
      .add(&CheckpointSweep::preserved, static_cast<std::int64_t>(page.preserved))
      .set(&CheckpointSweep::isEnded, is_ended);
}

}  // namespace

Result<Graph<CheckpointSweep>> checkpoint_sweep_graph(std::shared_ptr<const ResearchParts> parts) {
  GraphBuilder<CheckpointSweep> graph{kSweepGraph};
  graph.describe("Removes the checkpoints of failed analyses whose time of retention is over.");
  graph.node("sweep", [parts](const CheckpointSweep& state, Context& context) {
    return sweep_once(parts, state, context);
  });
  auto after_page = [](const CheckpointSweep& state) -> std::string_view {
    return state.isEnded ? end : "sweep";
  };
  graph.edge(start, "sweep").branch("sweep", after_page, {"sweep", end});
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay::research
