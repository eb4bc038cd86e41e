#pragma once
// store/sqlite/prune.h - deletes runs, or the commits of a run before one of them.
//
// Threading: the writer's thread, inside its transaction.

#include "belay/store.h"
#include "store/sqlite/connection.h"

namespace belay::sqlite {

Result<Done> prune(Connection& connection, std::int64_t tenant, std::int64_t run,
                   const PruneRun& prune);

}  // namespace belay::sqlite
