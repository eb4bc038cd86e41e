#pragma once
// store/postgres/concurrency.h - enforces concurrency limits in the server; see ConcurrencyGuard.
//
// A transaction that makes a run `running` holds an advisory lock for each of the run's scopes
// until its end, so that no two transactions count the same runs concurrently. All transactions
// lock runs before scopes.
//
// Threading: one thread at a time.

#include <set>

#include "belay/store.h"
#include "store/postgres/table.h"

namespace belay::postgres {

// The checks of a batch. The runs of its commits are already `running` within the transaction.
class ConcurrencyChecks {
 public:
  ConcurrencyChecks();

  void add(const Commit& commit);
  // Queues the locks and the check, which divides by zero if a limit is exceeded.
  void send(Connection& connection) const;

 private:
  std::set<std::int64_t> locks_;
  Table groups_;
};

// Whether one more run can run in each of the commit's scopes. REQUIRES: the run is new or locked,
// and not `running`.
Result<bool> has_capacity(Connection& connection, const Commit& commit);

}  // namespace belay::postgres
