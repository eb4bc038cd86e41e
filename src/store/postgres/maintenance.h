#pragma once
// store/postgres/maintenance.h - how large a store's tables are, and making room in them.
//
// Threading: any; each call uses a connection of its own.

#include "belay/store.h"
#include "store/postgres/address.h"

namespace belay::postgres {

// Rows are counted up to a million a table; the server's estimate serves beyond.
Result<StoreStatistics> statistics_of(const Address& address);
// Makes the room of deleted rows free for new ones, and has the planner know the tables. Nobody
// else has to wait; the files keep their size, but for what is free at their ends. `unavailable`
// where tables are another role's: what is ours has been seen to then.
Result<Done> compact(const Address& address);

}  // namespace belay::postgres
