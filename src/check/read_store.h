#pragma once
// check/read_store.h - reads the rows that the rules check.

#include "belay/check.h"
#include "check/contents.h"

namespace belay::check {

// Reads threads and lists of runs.
Result<StoreContents> read_lists(Snapshot& view, const TenantId& tenant);

// Reads a complete run, with its graphs from the scope; nullopt if the store does not find it.
Result<std::optional<RunContents>> read_run(Snapshot& view, const CheckScope& scope,
                                            const RunId& run);

// Appends the records of one collection that runs have saved, with their commits, and returns the
// number of all its records.
Result<std::size_t> read_records(Snapshot& view, const TenantId& tenant,
                                 const std::string& collection, std::vector<SavedRecord>& records);

}  // namespace belay::check
