#pragma once
// cli/find_run.h - a thread's latest run, straight from the store.

#include "cli/world.h"

namespace belay::cli {

// `not_found` for a thread that is not there; `call` is the program, as Settings has it.
Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call);

// The same, in a view of its own.
Task<Result<RunRow>> run_of_thread(World& world, ThreadId thread);

// The error of a command that could not have the thread's run; where another living process has it,
// with that process's id.
Task<Error> with_owner(World& world, ThreadId thread, Error failed);

}  // namespace belay::cli
