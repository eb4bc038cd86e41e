#pragma once
// store/sqlite/sqlite_store.h - opening a SQLite store with what only tests ask for.

#include <cstdint>
#include <functional>

#include "belay/store.h"

namespace belay::sqlite {

struct SqliteStoreOptions {
  // Called on the writer's thread around the n-th transaction of commits, from 1: before it begins
  // (after = false), and when it is durable but not yet acknowledged (after = true). It may wait,
  // so that a test can kill the process just there. Must not call the store.
  std::function<void(std::uint64_t commit_number, bool after)> at_commit;
};

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random, SqliteStoreOptions options);

}  // namespace belay::sqlite
