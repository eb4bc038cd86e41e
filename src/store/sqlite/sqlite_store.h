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

  // In place of the store's threads: is given each piece of work that the store has to do, and
  // calls it later, on the thread that uses the store. A simulation's clock says when, and so how
  // long the disk takes. The store may be gone by then.
  std::function<void(std::function<void()> work)> run_later;
};

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random, SqliteStoreOptions options);

}  // namespace belay::sqlite
