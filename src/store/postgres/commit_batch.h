#pragma once
// store/postgres/commit_batch.h - many commits in one round trip and one transaction: those that
// need nothing but their run standing where they say.
//
// BEGIN, the guards, all rows and COMMIT travel together. A guard that does not hold makes the
// server divide by zero, which undoes the transaction: then judge() finds out whose it was, and the
// others go again. So a fenced run changes nothing, and costs the others one more round trip.
//
// Threading: the writer's thread only.

#include <vector>

#include "belay/store.h"
#include "store/postgres/connection.h"

namespace belay::postgres {

// Whether the commit can travel with others. Decisions, imports, and what retention does go alone.
bool fits_together(const Commit& commit);

// Of all that could be said of a batch.
enum class Together {
  applied,  // all are durable
  a_guard,  // some guard does not hold: nothing was written
  repeat,   // the server gave it up, or takes no writes: nothing was written, try the same again
  refused,  // a row can't be written: nothing was
  lost,     // the connection is gone: it may have been written, or not
};
struct TogetherAnswer {
  Together outcome = Together::applied;
  Error error = {};  // unless applied or a guard
};
// REQUIRES: fits_together() for each, and no run twice.
TogetherAnswer commit_together(Connection& connection, const std::vector<const Commit*>& commits,
                               std::chrono::milliseconds lock_patience);

// Which of the commits have their run standing where they say, as things are now.
Result<std::vector<bool>> standing(Connection& connection,
                                   const std::vector<const Commit*>& commits);

// Sends what every transaction of commits begins with. It waits for a lock no longer than this.
void begin_writing(Connection& connection, std::chrono::milliseconds lock_patience);

// Ends connections of Belay that have waited for their process in the midst of a transaction for
// this long: one that was stopped, or whose machine has gone, holds its locks without end. What it
// goes on with, if ever, is told that its connection is lost, and is sent again under its guard.
void end_silent_transactions(Connection& connection, std::chrono::milliseconds silence);

}  // namespace belay::postgres
