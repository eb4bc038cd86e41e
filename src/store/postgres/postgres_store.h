#pragma once
// store/postgres/postgres_store.h - opening a PostgreSQL store with what only tests ask for.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "belay/store.h"
#include "store/postgres/schema.h"

namespace belay::postgres {

struct PostgresStoreOptions {
  // What its sessions are called, for people; empty: "host:pid". It identifies nothing.
  std::string session_name = {};
  // Judges approvals' expiry in place of the server's clock.
  Clock* expiry_clock = nullptr;
  // Called on the writer's thread around the n-th transaction of commits, from 1: before it begins
  // (after = false), and when it is durable but not yet acknowledged (after = true). It may wait,
  // so that a test can kill the process just there. Must not call the store.
  std::function<void(std::uint64_t commit_number, bool after)> at_commit = nullptr;
  // How long a commit waits for a lock, and after how much silence a transaction that holds one is
  // ended.
  std::chrono::milliseconds lock_patience{3'000};
  std::chrono::milliseconds silence{10'000};
  // Maximum bytes of a commit for one table: they form one message to the server,
  // which accepts at most 1 GiB.
  std::size_t statement_bytes_max = 1'000'000'000;
  // How a migration comes by its locks, where opening the store makes one.
  MigrationLocks migration_locks = {};
};

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random, PostgresStoreOptions options);

}  // namespace belay::postgres
