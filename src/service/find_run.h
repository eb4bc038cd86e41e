#pragma once
// service/find_run.h - finds the latest run of a thread, in one snapshot of the store.

#include "belay/store.h"

namespace belay {

// Fails with `not_found` if the thread does not exist; `call` is the program's name in the
// suggested command.
Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call);

}  // namespace belay
