#pragma once
// store/sqlite/maintenance.h - reports the size of a store's tables and compacts the file.
//
// Threading: any; each call opens its own connection.

#include "belay/store.h"

namespace belay::sqlite {

Result<StoreStatistics> statistics_of(const std::string& path);
Result<Done> compact_file(const std::string& path);

}  // namespace belay::sqlite
