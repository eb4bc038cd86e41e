#pragma once
// usage/usage_rebuild.h - computes the totals of days again from the runs of the store: for runs
// that ended in a program that does not record them, and for a store of an older version.
//
// A day is replaced if the store has at least as many of its runs, without those whose invocation
// is pending, as its totals count. Otherwise runs of it were deleted since, and its totals are
// kept: they are then exact for all runs that were recorded. A replaced day and the erasure of the
// pending invocations that it counts are one commit. Pending invocations of deleted runs remain:
// the next flush adds them.
//
// Threading: the awaiting executor. `store` and `clock` must outlive the coroutine.

#include "belay/clock.h"
#include "belay/store.h"

namespace belay::usage {

struct RebuildReport {
  std::size_t runs = 0;      // ended runs in the store
  std::size_t replaced = 0;  // days
  std::size_t kept = 0;      // days of which runs were deleted
};

// Other processes can end runs and flush meanwhile. Reads all ended runs and their calls.
Task<Result<RebuildReport>> rebuild_usage(Store& store, Clock& clock, TenantId tenant);

}  // namespace belay::usage
