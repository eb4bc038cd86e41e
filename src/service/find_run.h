#pragma once
// service/find_run.h - a thread's latest run, in one view of the store.

#include "belay/store.h"

namespace belay {

// `not_found` for a thread that is not there; `call` is how the program is called, for what to look
// at then.
Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call);

}  // namespace belay
