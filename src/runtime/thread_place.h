#pragma once
// runtime/thread_place.h - finds the place of a new run in its thread.

#include <optional>

#include "belay/thread.h"
#include "load/stored_run.h"

namespace belay {

// The runs of a thread that has any.
struct ThreadPlace {
  std::optional<ThreadRow> row;  // if a run has not ended
  RunRow newest;
  std::optional<RunRow> unfinished;         // the oldest run that has not ended
  std::optional<engine::RunBefore> before;  // the next run starts from it, if all have ended
};

// nullopt if the thread has no run.
Result<std::optional<ThreadPlace>> thread_place(Snapshot& view, const GraphRegistry& graphs,
                                                const TenantId& tenant, const ThreadId& thread);

// Returns the oldest run of the thread that is stored; `not_found` for an unknown thread.
Result<RunRow> first_run(Snapshot& view, const TenantId& tenant, const ThreadId& thread);

// Returns the runs of the thread that have not ended, newest first.
Result<std::vector<RunRow>> unfinished_runs(Snapshot& view, const TenantId& tenant,
                                            const ThreadId& thread);

}  // namespace belay
