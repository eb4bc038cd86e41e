#pragma once
// store/thread_reads.h - reads the row of one thread.

#include <optional>

#include "belay/store.h"

namespace belay::store {

// Returns nullopt for an unknown thread.
Result<std::optional<ThreadRow>> find_thread(Snapshot& view, const TenantId& tenant,
                                             const ThreadId& thread);
// Fails with `not_found` for an unknown thread.
Result<ThreadRow> thread_row(Snapshot& view, const TenantId& tenant, const ThreadId& thread);

}  // namespace belay::store
