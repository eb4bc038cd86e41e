#pragma once
// store/postgres/maintenance.h - reports the size of a store's tables and vacuums them.
//
// Threading: any; each call opens its own connection.

#include "belay/store.h"
#include "store/postgres/address.h"

namespace belay::postgres {

// Counts rows in tables of up to a million rows; returns the server's estimate for larger ones.
Result<StoreStatistics> statistics_of(const Address& address);
// Makes the space of deleted rows available for new ones, and updates the planner's statistics.
// Blocks no other process. The files keep their size, except for free space at their ends. Fails
// with `unavailable` if tables belong to another role, after it has vacuumed the others.
Result<Done> compact(const Address& address);

}  // namespace belay::postgres
