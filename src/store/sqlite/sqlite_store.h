#pragma once
// store/sqlite/sqlite_store.h - opens a SQLite store with the options of tests.

#include <cstdint>
#include <functional>

#include "belay/store.h"

namespace belay::sqlite {

struct SqliteStoreOptions {
  // Called on the writer's thread around the n-th transaction of commits, from 1: before it begins
  // (after = false), and when it is durable but not yet acknowledged (after = true). It may block,
  // so that a test can kill the process at this point. Must not call the store.
  std::function<void(std::uint64_t commit_number, bool after)> at_commit;

  // If set, the store has no threads: it passes each piece of work to this function, which must
  // call it later, on the thread that uses the store. A simulation thereby determines how long the
  // disk takes. The work may be called after the end of the store; it then does nothing.
  std::function<void(std::function<void()> work)> run_later;
};

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random, SqliteStoreOptions options);

}  // namespace belay::sqlite
