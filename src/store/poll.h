#pragma once
// store/poll.h - what a store offers to a worker: see Store::claim().

#include <vector>

#include "belay/store.h"

namespace belay::store {

// From what `view` shows. REQUIRES: filter.limit <= limits::poll_batch_max.
Result<std::vector<RunRow>> candidates_for(Snapshot& view, const PollFilter& filter);

}  // namespace belay::store
