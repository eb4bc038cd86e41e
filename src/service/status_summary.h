#pragma once
// service/status_summary.h - reads the runs in progress, and finds those whose code is gone.

#include <functional>
#include <memory>
#include <vector>

#include "belay/service.h"
#include "load/graph_registry.h"

namespace belay {

// A run whose code is gone is in StatusSummary::code_gone only, unless a live process executes it:
// that process has its graph. The lists of runs are limited to limits::list_rows_max.
Task<Result<StatusSummary>> status_summary(Store& store,
                                           std::shared_ptr<const GraphRegistry> graphs,
                                           SessionId own, TenantId tenant, Whose whose,
                                           Instant now);

// Returns RunView::code_gone. `own`: the session of this process, here and below.
Task<Result<std::string>> gone_code_of(Store& store, std::shared_ptr<const GraphRegistry> graphs,
                                       SessionId own, RunRow run);

// Reads threads with `reader`, and sets ListedThread::code_gone.
Task<Result<std::vector<ListedThread>>> threads_with_code(
    Store& store, std::shared_ptr<const GraphRegistry> graphs, SessionId own, TenantId tenant,
    std::function<Result<std::vector<ListedThread>>(Snapshot&)> reader);

}  // namespace belay
