#pragma once
// usage/usage_flush.h - adds pending invocations to the totals of their days.
//
// One commit changes the days and erases the invocations that it has added, and expects the
// versions of all of them. Of several processes that flush at the same time, one is applied; the
// others read again. A process that ends before, during or after the commit neither loses an
// invocation nor counts one twice.
//
// Tokens and cost are read from the calls of the runs here, not while a run is executed. They are 0
// for a run that was deleted before its flush.
//
// Threading: the awaiting executor. `store` and `clock` must outlive the coroutine.

#include "belay/clock.h"
#include "belay/store.h"

namespace belay::usage {

// Returns the number of invocations that this call has added, until none is pending.
Task<Result<std::size_t>> flush_usage(Store& store, Clock& clock, TenantId tenant);
// The same for each tenant. The first call in a store without totals rebuilds them
// (usage_rebuild.h) from the runs that ended before they were recorded.
Task<Result<std::size_t>> flush_all_usage(Store& store, Clock& clock);

}  // namespace belay::usage
