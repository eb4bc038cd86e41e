#pragma once
// store/sqlite/schema.h - opens the file of a store, and creates or migrates its schema.

#include "store/sqlite/connection.h"

namespace belay::sqlite {

// "BELY": distinguishes a store from other SQLite files.
inline constexpr std::int64_t application_id = 0x42454c59;

// Opens the store at `path` for writing; creates and migrates it as needed, and completes the
// recovery after a crash. Fails, and leaves the file unchanged, if it belongs to another program,
// to a newer Belay, or is damaged.
Result<std::unique_ptr<Connection>> open_store_file(const std::string& path, Clock& clock);

}  // namespace belay::sqlite
