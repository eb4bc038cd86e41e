#pragma once
// store/postgres/concurrency.h - how many runs may be `running` at the same time, held by the
// server: see ConcurrencyGuard.
//
// Whoever makes a run running takes a lock of its groups until the end of the transaction, so that
// no two count at the same time. Runs are locked before groups, by everybody.
//
// Threading: one thread at a time.

#include <set>

#include "belay/store.h"
#include "store/postgres/table.h"

namespace belay::postgres {

// Of many commits, whose runs are running already within this transaction.
class ConcurrencyChecks {
 public:
  ConcurrencyChecks();

  void add(const Commit& commit);
  // Queues the locks, and the check, which divides by zero where a limit is exceeded.
  void send(Connection& connection) const;

 private:
  std::set<std::int64_t> locks_;
  Table groups_;
};

// Whether the run, which is locked and not running yet, has a place in each of its groups.
Result<bool> has_capacity(Connection& connection, const Commit& commit);

}  // namespace belay::postgres
