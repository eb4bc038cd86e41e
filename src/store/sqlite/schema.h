#pragma once
// store/sqlite/schema.h - from a path to a file that holds Belay's current schema.

#include "store/sqlite/connection.h"

namespace belay::sqlite {

// "BELY": tells a Belay store from any other SQLite file.
inline constexpr std::int64_t application_id = 0x42454c59;

// Opens the store at `path` for writing; creates and migrates as needed, and ends the recovery of
// what a crash left. Refuses what is not ours, or newer, or damaged, and leaves it as it was.
Result<std::unique_ptr<Connection>> open_store_file(const std::string& path, Clock& clock);

}  // namespace belay::sqlite
