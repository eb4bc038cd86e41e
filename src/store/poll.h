#pragma once
// store/poll.h - selects the candidates of a poll; see Store::poll_runs().

#include <vector>

#include "belay/store.h"

namespace belay::store {

// Reads from `view` only. REQUIRES: filter.limit <= limits::poll_batch_max.
Result<std::vector<RunRow>> candidates_for(Snapshot& view, const PollFilter& filter);

}  // namespace belay::store
