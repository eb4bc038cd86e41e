#pragma once
// driver/fork_origin.h - finds the commit after which a fork begins.
//
// A fork with edits must not go on where a person let another state pass. It begins before the
// approvals that it would skip, in the run itself or in one that this was forked from, so that the
// edited state is asked about. docs/time-travel.md has the rule.

#include "belay/runtime.h"
#include "driver/stored_run.h"

namespace belay {

struct ForkOrigin {
  RunRow row;  // as it stands now
  std::uint64_t seq = 0;
};

// `not_found` for an unknown thread or commit; `forbidden` where who asks may not edit past an
// approval; `invalid` where nothing is left to do, or the commits before a skipped approval are no
// longer stored. `edits` of the options are an object, or null.
Result<ForkOrigin> fork_origin(Snapshot& view, const GraphRegistry& graphs,
                               const ForkOptions& options);

}  // namespace belay
