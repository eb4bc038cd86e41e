#pragma once
// check/read_store.h - reads what the rules look at.

#include "belay/check.h"
#include "check/contents.h"

namespace belay::check {

// Threads and lists of runs.
Result<StoreContents> read_lists(Snapshot& view, const TenantId& tenant);

// One run whole, with the graphs that the scope has for it; nothing when the store does not find
// it.
Result<std::optional<RunContents>> read_run(Snapshot& view, const CheckScope& scope,
                                            const RunId& run);

// The user's records of one collection that runs have saved, with their commits; adds to `records`
// and returns how many records there are in all.
Result<std::size_t> read_records(Snapshot& view, const TenantId& tenant, const UserId& user,
                                 const std::string& collection, std::vector<SavedRecord>& records);

}  // namespace belay::check
