#pragma once
// store/poll.h - what a store offers to a worker: see Store::claim().

#include <vector>

#include "belay/store.h"

namespace belay::store {

// From what `view` shows. REQUIRES: filter.limit <= limits::claim_max.
Result<std::vector<RunRow>> runs_to_offer(Snapshot& view, const PollFilter& filter);

}  // namespace belay::store
