#include "load/run_loader.h"

namespace belay {

void RunLoader::add(Definition graph) {
  auto graphs = std::make_shared<GraphRegistry>(*graphs_);
  graphs->add(std::move(graph));
  graphs_ = std::move(graphs);
}

Result<RunLoader::Definition> RunLoader::graph_of(const engine::StoredRun& stored) const {
  BELAY_TRY(Digest version, engine::version_of(stored));
  return graphs_->for_version(stored.row.graph, version);
}

Result<RunLoader::Definition> RunLoader::graph_to_continue(const engine::StoredRun& stored) const {
  BELAY_TRY(Definition graph, graph_of(stored));
  BELAY_TRY(BillOfMaterials materials, engine::materials_of(stored));
  auto refused = refusal_of(*graph, materials);
  if (refused) return error(ErrorCode::invalid, *std::move(refused));
  return graph;
}

Result<LoadedRun> RunLoader::load(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                  std::optional<std::uint64_t> seq) {
  LoadedRun found;
  if (!seq || *seq == row.seq) {
    BELAY_TRY(found.approvals, open_approvals(view, row));
    BELAY_TRY(found.spending, spending_of_run(view, row));
    BELAY_TRY(found.uncertain, uncertain_effects(view, row));
  }
  bool waits = !has_started(row) && !is_final(row.status) && !seq;
  if (waits) {
    BELAY_TRY(RunRow current, current_run(view, row.tenant, row.thread));
    if (current.run == row.run) {
      BELAY_TRY(found.before, run_before(view, graphs, row));
    }
  }
  BELAY_TRY(found.stored, stored_run(view, graphs, std::move(row), seq));
  return found;
}

Task<Result<LoadedRun>> RunLoader::find(std::function<Result<RunRow>(Snapshot&)> find_row,
                                        std::optional<std::uint64_t> seq) {
  std::function<Result<LoadedRun>(Snapshot&)> reader =
      [find_row = std::move(find_row), seq, graphs = graphs_](Snapshot& view) -> Result<LoadedRun> {
    BELAY_TRY(RunRow row, find_row(view));
    return load(view, *graphs, std::move(row), seq);
  };
  co_return co_await read<LoadedRun>(store_, std::move(reader));
}

Task<Result<LoadedRun>> RunLoader::load_thread(TenantId tenant, ThreadId thread,
                                               std::optional<std::uint64_t> seq,
                                               std::optional<RunId> run) {
  std::function<Result<RunRow>(Snapshot&)> find_row = [tenant, thread, run](Snapshot& view) {
    return run_of(view, tenant, thread, run);
  };
  co_return co_await find(std::move(find_row), seq);
}

Task<Result<LoadedRun>> RunLoader::load_run(TenantId tenant, RunId run) {
  std::function<Result<RunRow>(Snapshot&)> find_row = [tenant, run](Snapshot& view) {
    return run_row(view, tenant, run);
  };
  co_return co_await find(std::move(find_row), std::nullopt);
}

Result<engine::Run> RunLoader::restore(const GraphDefinition& graph, LoadedRun found) const {
  bool waits = !engine::has_started(found.stored) && !is_final(found.stored.row.status);
  if (!waits) return engine::restore(graph, std::move(found.stored));
  const RunRow row = found.stored.row;
  if (!found.before) {
    return error(ErrorCode::conflict, "Run " + row.run.text() +
                                          " waits for the end of the earlier runs of thread \"" +
                                          row.thread.text + "\".");
  }
  BELAY_TRY(engine::Run waiting, engine::restore(graph, std::move(found.stored)));
  engine::Run failing = waiting;
  auto begun = engine::begin_run(graph, *found.before, std::move(waiting));
  if (begun.ok()) return begun;
  // Damage is not the fault of the input: the run is quarantined, like any damaged run.
  if (begun.error().code == ErrorCode::corrupt) return begun;
  failing.cannot_begin = std::move(begun).error();
  return failing;
}

Result<RunView> RunLoader::view_of(LoadedRun found) const {
  RunView view;
  auto graph = graph_of(found.stored);
  Result<engine::Run> run = graph.ok() ? engine::restore(**graph, found.stored) : graph.error();
  if (run.ok()) {
    view.state = engine::state_value(**graph, found.stored, *run);
  } else if (graph.ok() && run.error().code == ErrorCode::corrupt) {
    return std::move(run).error();
  } else {
    view.state = engine::raw_state(found.stored);
  }
  auto materials = engine::materials_of(found.stored);
  if (materials.ok()) view.materials = value_of(*materials);
  view.row = std::move(found.stored.row);
  view.approvals = std::move(found.approvals.rows);
  if (!view.approvals.empty()) view.approval = view.approvals.front();
  view.spending = found.spending;
  view.uncertain = std::move(found.uncertain);
  return view;
}

Task<Result<RunView>> RunLoader::view(TenantId tenant, RunId run) {
  auto found = co_await load_run(std::move(tenant), run);
  if (!found.ok()) co_return std::move(found).error();
  co_return view_of(*std::move(found));
}

}  // namespace belay
