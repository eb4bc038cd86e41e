#pragma once
// store/postgres/commit_batch.h - commits many commits in one transaction and one round trip.
//
// For commits without guards other than RunGuard and concurrency limits. BEGIN, the guards, all
// rows and COMMIT are sent in one pipeline. If a guard does not hold, the server divides by zero,
// which undoes the transaction; standing() then finds the commits whose guard does not hold, and
// the others are retried. A fenced run therefore writes nothing, and costs the others a few more
// round trips.
//
// Threading: the writer's thread only.

#include <vector>

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// Whether the commit can be part of a batch. Decisions, imports and pruning cannot.
bool fits_together(const Commit& commit);

// The outcome of a batch.
enum class Together {
  applied,  // all are durable
  a_guard,  // some guard does not hold: nothing was written
  repeat,   // aborted (40001, 40P01), or a read-only server: nothing was written, retry the same
  refused,  // a row could not be written, or a lock was not available: nothing was written
  lost,     // the connection is lost: the batch might have been written
};
struct TogetherAnswer {
  Together outcome = Together::applied;
  Error error = {};  // unless applied or a guard
};
// REQUIRES: fits_together() for each, and no run twice.
TogetherAnswer commit_together(Connection& connection, const std::vector<const Commit*>& commits,
                               std::chrono::milliseconds lock_patience);

// Returns for each commit whether its RunGuard holds now. Takes no lock: a hint only.
Result<std::vector<bool>> standing(Connection& connection,
                                   const std::vector<const Commit*>& commits);

// Queues the first statements of a transaction of commits. `lock_patience` limits each wait for a
// lock (lock_timeout).
void begin_writing(Connection& connection, std::chrono::milliseconds lock_patience);

// Terminates connections of Belay that have waited for their client within a transaction for longer
// than `silence`: if a process was stopped, or its machine is lost, it would hold its locks without
// limit. If such a process continues, its connection is lost, and it sends its commits again: their
// guards then decide.
void end_silent_transactions(Connection& connection, std::chrono::milliseconds silence);

}  // namespace belay::postgres
