#pragma once
// store/postgres/prune.h - deletes runs, or the commits of a run before one of them.
//
// Locks the run's row first, then its thread's. A concurrent first commit in the thread holds a
// share lock on the thread, so that the thread is not deleted while it gets a new run.

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// Locks and reads the run, and queues the deletions; the next sync() executes them.
// REQUIRES: within a READ COMMITTED transaction; nothing else is queued.
Result<Done> prune(Connection& connection, const TenantId& tenant, const PruneRun& prune);

}  // namespace belay::postgres
