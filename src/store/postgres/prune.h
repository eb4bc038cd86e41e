#pragma once
// store/postgres/prune.h - forgets runs, or what came before one of their commits.
//
// The run's row is locked first, then its thread's: a first commit that is being made in the thread
// shares that lock, so that the thread is not forgotten beside it.

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// Looks at the run, and queues what is to be deleted: sync() carries it out.
// REQUIRES: within a block of READ COMMITTED; nothing else is queued.
Result<Done> prune(Connection& connection, const TenantId& tenant, const PruneRun& prune);

}  // namespace belay::postgres
