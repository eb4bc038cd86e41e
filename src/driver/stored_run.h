#pragma once
// driver/stored_run.h - reads a run and what belongs to it in one consistent view.

#include "belay/store.h"
#include "engine/restore.h"

namespace belay {

// The latest run of a thread; `not_found` when there is no such thread.
Result<RunRow> latest_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread);
// `not_found` when there is no such run.
Result<RunRow> run_row(Snapshot& view, const TenantId& tenant, const RunId& run);

// The run as it stood after its commit `seq`, or after its newest.
Result<engine::StoredRun> stored_run(Snapshot& view, RunRow row,
                                     std::optional<std::uint64_t> seq = std::nullopt);

// The approval that the run waits for, if it waits for one.
Result<std::optional<ApprovalRow>> open_approval(Snapshot& view, const RunRow& run);
// `not_found` when there is no such approval.
Result<ApprovalRow> approval_row(Snapshot& view, const TenantId& tenant,
                                 const InterruptId& interrupt);

}  // namespace belay
