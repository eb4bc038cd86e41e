#pragma once
// driver/stored_run.h - a run's rows, read from one view of the store.

#include <memory>
#include <optional>

#include "belay/store.h"
#include "driver/graph_registry.h"
#include "engine/restore.h"

namespace belay {

// `not_found` for an unknown thread or run.
Result<RunRow> latest_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread);
Result<RunRow> run_row(Snapshot& view, const TenantId& tenant, const RunId& run);

// The run's newest commit; nothing where it has none.
Result<std::optional<CheckpointRow>> newest_checkpoint(Snapshot& view, const TenantId& tenant,
                                                       const RunId& run);

// The rows of a run as it stands, or as it stood after its commit `seq`: the row then says so too.
// Subgraphs under way are read where `graphs` knows the run's version, and only as they stand now.
Result<engine::StoredRun> stored_run(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                     std::optional<std::uint64_t> seq = std::nullopt);

// Reads all of a run that recovery needs: its commits, values, tasks and approvals. Fails with
// `corrupt` if part of it is damaged.
Result<Done> check_readable(Snapshot& view, const GraphRegistry& graphs, const TenantId& tenant,
                            const RunId& run);

// What a run with a budget has cost so far; nothing for one without.
Result<std::optional<Spending>> spending_of_run(Snapshot& view, const RunRow& run);

// Returns the effects of an ended run whose outcome is unknown, at most limits::list_rows_max. None
// for a run that has not ended: its own tasks request a decision about them.
Result<std::vector<EffectRow>> uncertain_effects(Snapshot& view, const RunRow& run);

// The approvals that the run waits for, oldest first; none unless it is paused.
struct OpenApprovals {
  std::vector<ApprovalRow> rows;  // the newest limits::list_rows_max of them
  Instant last_expiry{};          // of all of them
};
Result<OpenApprovals> open_approvals(Snapshot& view, const RunRow& run);
// Returns those of `asked` that are decided.
Result<std::vector<ApprovalRow>> decided_of(Snapshot& view, const TenantId& tenant,
                                            const RunId& run, std::vector<InterruptId> asked);
Result<ApprovalRow> approval_row(Snapshot& view, const TenantId& tenant,
                                 const InterruptId& interrupt);

// Returns all runs that are `running`, of any session, without their input; only those of
// one user if `user` is given.
Result<std::vector<RunRow>> running_runs(Snapshot& view, const TenantId& tenant,
                                         const std::optional<UserId>& user = std::nullopt);

}  // namespace belay
