#pragma once
// load/run_loader.h - loads stored runs, and selects the graphs that continue them.
//
// Threading: the executor's thread.

#include <functional>
#include <memory>
#include <optional>

#include "belay/runtime.h"
#include "load/stored_run.h"

namespace belay {

// A run with its open approvals, read from one snapshot.
struct LoadedRun {
  engine::StoredRun stored;
  OpenApprovals approvals;
  std::optional<Spending> spending;  // only of a run with a budget
  std::vector<EffectRow> uncertain;  // only if the run has ended
  // Of a run that waits for the end of earlier runs of its thread: what it starts from, if they
  // have ended.
  std::optional<engine::RunBefore> before;
};

class RunLoader {
 public:
  using Definition = std::shared_ptr<const GraphDefinition>;

  // The store must outlive the loader.
  explicit RunLoader(Store& store) : store_(store) {}

  void add(Definition graph);
  // The registered graphs. A reader of the store keeps them: it can outlive the loader.
  const std::shared_ptr<const GraphRegistry>& graphs() const { return graphs_; }
  // Returns the graph that continues a run of this version.
  Result<Definition> graph_of(const engine::StoredRun& stored) const;

  // The same to execute the run, or to decide for it: `invalid` if the graph refuses the run
  // because of its materials.
  Result<Definition> graph_to_continue(const engine::StoredRun& stored) const;

  // Reads a run, as of its commit `seq` if that is set.
  static Result<LoadedRun> load(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                std::optional<std::uint64_t> seq);
  // The current run of a thread, or another of its runs.
  Task<Result<LoadedRun>> load_thread(TenantId tenant, ThreadId thread,
                                      std::optional<std::uint64_t> seq = std::nullopt,
                                      std::optional<RunId> run = std::nullopt);
  Task<Result<LoadedRun>> load_run(TenantId tenant, RunId run);

  // Restores a run to continue it. A waiting run begins: `conflict` if an earlier run of its thread
  // has not ended.
  Result<engine::Run> restore(const GraphDefinition& graph, LoadedRun found) const;

  // A run can be viewed without its code: if no graph can read its state or continue the run, the
  // state is returned as stored.
  Result<RunView> view_of(LoadedRun found) const;
  Task<Result<RunView>> view(TenantId tenant, RunId run);

 private:
  Task<Result<LoadedRun>> find(std::function<Result<RunRow>(Snapshot&)> find_row,
                               std::optional<std::uint64_t> seq);

  Store& store_;
  // Replaced as a whole: a store's read on another thread might still use the previous one.
  std::shared_ptr<const GraphRegistry> graphs_ = std::make_shared<GraphRegistry>();
};

}  // namespace belay
