#pragma once
// store/memory/concurrency.h - enforces concurrency limits in memory; see ConcurrencyGuard.

#include "store/memory/tables.h"

namespace belay::store {

// Returns the user, concurrency key or queue by which the run is counted; empty for the tenant.
const std::string& group_of(const RunRow& run, ConcurrencyScope of);

// False if the commit makes the run running and a concurrency limit is reached. If the run is
// already running, it has been counted.
bool has_capacity(const Commit& commit, const TenantTables& tenant, const RunTable* run,
                  const CommitRows& rows);

}  // namespace belay::store
