#pragma once
// store/sqlite/maintenance.h - counting a store's pages, and giving free ones back.
//
// Threading: any; each call uses a connection of its own.

#include "belay/store.h"

namespace belay::sqlite {

Result<StoreStatistics> statistics_of(const std::string& path);
Result<Done> compact_file(const std::string& path);

}  // namespace belay::sqlite
