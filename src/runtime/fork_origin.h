#pragma once
// runtime/fork_origin.h - finds the commit from which a fork starts.
//
// A fork with edits must not skip an approval that was given for another state. It starts before
// the approvals that it would skip, in the run itself or in one of its ancestors, so that the
// edited state is decided on. docs/time-travel.md has the rule.

#include "belay/runtime.h"
#include "load/stored_run.h"

namespace belay {

struct ForkOrigin {
  RunRow row;  // its current row
  std::uint64_t seq = 0;
};

// `not_found` for an unknown thread or commit; `forbidden` if the caller may not edit past an
// approval; `invalid` if no tasks are left, or if the commits before a skipped approval were
// pruned. REQUIRES: `options.edits` is an object or null.
Result<ForkOrigin> fork_origin(Snapshot& view, const GraphRegistry& graphs,
                               const ForkOptions& options);

}  // namespace belay
