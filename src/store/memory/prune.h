#pragma once
// store/memory/prune.h - forgets runs, or what came before one of their commits.

#include "store/memory/tables.h"

namespace belay::store {

void prune(TenantTables& tenant, const PruneRun& prune);

}  // namespace belay::store
