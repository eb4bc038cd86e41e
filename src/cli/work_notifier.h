#pragma once
// cli/work_notifier.h - creates the WorkNotifier that reports runs queued by other processes.

#include <memory>

#include "belay/hints.h"
#include "cli/settings.h"

namespace belay::cli {

// Returns the notifier of a PostgreSQL store, combined with `redis` unless that is null; null for
// other stores, which have none. `redis` must outlive the result. Fails with `invalid` for an
// invalid notify_url.
Result<std::unique_ptr<WorkNotifier>> make_work_notifier(const Settings& settings,
                                                         WorkNotifier* redis);

}  // namespace belay::cli
