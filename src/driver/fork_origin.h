#pragma once
// driver/fork_origin.h - finds the commit after which a fork begins.
//
// A fork with edits must not skip an approval that was given for another state. It begins before
// the approvals that it would skip, in the run itself or in one of its ancestors, so that people
// decide on the edited state. docs/time-travel.md has the rule.

#include "belay/runtime.h"
#include "driver/stored_run.h"

namespace belay {

struct ForkOrigin {
  RunRow row;  // its current row
  std::uint64_t seq = 0;
};

// `not_found` for an unknown thread or commit; `forbidden` if the caller may not edit past an
// approval; `invalid` if nothing is left to do, or if the commits before a skipped approval are
// pruned. `edits` in the options is an object or null.
Result<ForkOrigin> fork_origin(Snapshot& view, const GraphRegistry& graphs,
                               const ForkOptions& options);

}  // namespace belay
