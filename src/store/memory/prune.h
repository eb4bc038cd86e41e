#pragma once
// store/memory/prune.h - deletes runs, or the commits of a run before one of them.

#include "store/memory/tables.h"

namespace belay::store {

void prune(TenantTables& tenant, const PruneRun& prune);

}  // namespace belay::store
