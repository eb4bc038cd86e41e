#pragma once
// store/postgres/postgres_store.h - opens a PostgreSQL store with the options of tests.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "belay/store.h"
#include "store/postgres/schema.h"

namespace belay::postgres {

struct PostgresStoreOptions {
  // The name of its sessions, for display; empty: "host:pid". Need not be unique.
  std::string session_name = {};
  // The clock for the expiry of approvals; null: the server's clock.
  Clock* expiry_clock = nullptr;
  // Called on the writer's thread around the n-th transaction of commits, from 1: before it begins
  // (after = false), and when it is durable but not yet acknowledged (after = true). It may block,
  // so that a test can kill the process at this point. Must not call the store.
  std::function<void(std::uint64_t commit_number, bool after)> at_commit = nullptr;
  // The time for which a commit waits for a lock, and the time after which a transaction that holds
  // a lock and waits for its client is terminated.
  std::chrono::milliseconds lock_patience{3'000};
  std::chrono::milliseconds silence{10'000};
  // Maximum bytes of a commit for one table: they form one message to the server, which accepts at
  // most 1 GiB.
  std::size_t statement_bytes_max = 1'000'000'000;
  // For a migration, if opening the store applies one.
  MigrationLocks migration_locks = {};
};

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random, PostgresStoreOptions options);

}  // namespace belay::postgres
