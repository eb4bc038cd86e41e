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
  repeat,   // the server gave it up: nothing was written, the same can be tried again
  refused,  // a row can't be written: nothing was
  lost,     // the connection is gone: it may have been written, or not
};
struct TogetherAnswer {
  Together outcome = Together::applied;
  Error error = {};  // unless applied or a guard
};
// REQUIRES: fits_together() for each, and no run twice.
TogetherAnswer commit_together(Connection& connection, const std::vector<const Commit*>& commits);

// Which of the commits have their run standing where they say, as things are now.
Result<std::vector<bool>> standing(Connection& connection,
                                   const std::vector<const Commit*>& commits);

// The statement that every transaction of commits begins with.
inline constexpr std::string_view begin_writing = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

}  // namespace belay::postgres
