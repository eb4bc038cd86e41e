#pragma once
// store/memory/concurrency.h - how many runs of a group are at work, in memory.

#include "store/memory/tables.h"

namespace belay::store {

// The user, concurrency key or queue that the run's place is counted by; empty for the tenant.
const std::string& group_of(const RunRow& run, ConcurrencyScope of);

// Whether every group of the run has a place for it. A run that is at work has its place already.
bool has_capacity(const Commit& commit, const TenantTables& tenant, const RunTable* run,
                  const CommitRows& rows);

}  // namespace belay::store
