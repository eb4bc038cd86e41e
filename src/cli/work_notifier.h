#pragma once
// cli/work_notifier.h - what tells this process of work that others have put into the store.

#include <memory>

#include "belay/hints.h"
#include "cli/settings.h"

namespace belay::cli {

// A PostgreSQL store's own way, beside a Redis' (null: none), which outlives it; null for another
// store, which has no way of its own. `invalid` for a notify_url that can't be one.
Result<std::unique_ptr<WorkNotifier>> make_work_notifier(const Settings& settings,
                                                         WorkNotifier* redis);

}  // namespace belay::cli
