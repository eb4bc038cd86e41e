#pragma once
// load/stored_run.h - reads the rows of a run from one snapshot.

#include <memory>
#include <optional>

#include "belay/store.h"
#include "engine/run_factory.h"
#include "load/graph_registry.h"

namespace belay {

// `not_found` for an unknown thread or run. See belay/thread.h for the current run.
Result<RunRow> current_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread);
// The run, which must belong to the thread; unset: the current one.
Result<RunRow> run_of(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                      const std::optional<RunId>& run);
Result<RunRow> run_row(Snapshot& view, const TenantId& tenant, const RunId& run);

// Returns the run's newest commit; nullopt if it has none.
Result<std::optional<CheckpointRow>> newest_checkpoint(Snapshot& view, const TenantId& tenant,
                                                       const RunId& run);

// Returns the rows of a run, now or as of its commit `seq`; its row is then set back to that commit
// too. Subgraphs in progress are included if `graphs` has the run's version, and not with an older
// `seq`.
Result<engine::StoredRun> stored_run(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                     std::optional<std::uint64_t> seq = std::nullopt);

// Returns the newest run of the thread before `run` that has started; nullopt if no such run is
// left. REQUIRES: the runs before it have ended.
Result<std::optional<engine::RunBefore>> run_before(Snapshot& view, const GraphRegistry& graphs,
                                                    const RunRow& run);
// The same for the run itself: it is what the next run starts from.
Result<engine::RunBefore> left_by(Snapshot& view, const GraphRegistry& graphs, RunRow run);

// Reads all of a run that recovery needs: its commits, values, tasks and approvals. Fails with
// `corrupt` if part of it is damaged.
Result<Done> check_readable(Snapshot& view, const GraphRegistry& graphs, const TenantId& tenant,
                            const RunId& run);

// Returns the spending of a run with a budget; nullopt for a run without one.
Result<std::optional<Spending>> spending_of_run(Snapshot& view, const RunRow& run);

// Returns the effects of an ended run whose outcome is unknown, at most limits::list_rows_max. None
// for a run that has not ended: its own tasks request a decision about them.
Result<std::vector<EffectRow>> uncertain_effects(Snapshot& view, const RunRow& run);

// The open approvals of a paused run, oldest first; none if it is not paused.
struct OpenApprovals {
  std::vector<ApprovalRow> rows;  // the newest limits::list_rows_max of them
  Instant last_expiry{};          // of all of them
};
Result<OpenApprovals> open_approvals(Snapshot& view, const RunRow& run);
// Returns those of `asked` that are decided.
Result<std::vector<ApprovalRow>> decided_of(Snapshot& view, const TenantId& tenant,
                                            const RunId& run, std::vector<InterruptId> asked);
// not_found if it does not exist, or if `only_of` is given and its run is of another user.
Result<ApprovalRow> approval_row(Snapshot& view, const TenantId& tenant,
                                 const InterruptId& interrupt,
                                 const std::optional<UserId>& only_of = std::nullopt);

// Returns all runs that are `running`, of any session, without their input; only those of
// one user if `user` is given.
Result<std::vector<RunRow>> running_runs(Snapshot& view, const TenantId& tenant,
                                         const std::optional<UserId>& user = std::nullopt);

}  // namespace belay
