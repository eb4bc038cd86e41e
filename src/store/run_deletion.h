#pragma once
// store/run_deletion.h - deletes ended runs in commits of about 1,000 rows.

#include <cstdint>
#include <vector>

#include "belay/store.h"

namespace belay::store {

struct EndedRun {
  RunId run;
  std::uint64_t seq = 0;  // of its last commit
};

// Deletes the runs in their order: the oldest commits of a long run first, so that no single commit
// deletes all of its rows. Runs that the store must keep remain (PruneRun). If it is stopped, one
// run might have lost only its oldest commits. `store` must outlive the coroutine.
Task<Result<Done>> delete_runs(Store& store, TenantId tenant, std::vector<EndedRun> runs);

// True if a message of the run waits for its delivery.
Result<bool> has_waiting_message(Snapshot& view, const TenantId& tenant, const RunId& run);

}  // namespace belay::store
