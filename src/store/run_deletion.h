#pragma once
// store/run_deletion.h - deletes ended runs in commits of about 1,000 rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "belay/store.h"

namespace belay::store {

struct EndedRun {
  RunId run;
  std::uint64_t seq = 0;  // of its last commit
};

// Returns all runs of a thread in the order of their deletion: oldest first, so that the thread
// keeps its newest run, and with it its state, if the deletion is interrupted. Returns nullopt, or
// the error, if `may_delete` returns false or an error for one of them.
using MayDelete = std::function<Result<bool>(const RunRow& run)>;
Result<std::optional<std::vector<EndedRun>>> runs_to_delete(Snapshot& view, const TenantId& tenant,
                                                            const ThreadId& thread,
                                                            const MayDelete& may_delete);

// Deletes the runs in their order: the oldest commits of a long run first, so that no single commit
// deletes all of its rows. Runs that the store must keep remain (PruneRun). If it is stopped, one
// run might have lost only its oldest commits. `store` must outlive the coroutine.
Task<Result<Done>> delete_runs(Store& store, TenantId tenant, std::vector<EndedRun> runs);

// True if a message of the run waits for its delivery.
Result<bool> has_waiting_message(Snapshot& view, const TenantId& tenant, const RunId& run);

}  // namespace belay::store
