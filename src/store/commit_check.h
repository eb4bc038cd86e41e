#pragma once
// store/commit_check.h - validates the form of a commit, the same for all stores.
//
// A store calls check_commit() before it evaluates guards, so that all stores reject the same
// malformed commits with the same messages.

#include "belay/store.h"

namespace belay::store {

// Fails with `invalid` if rows do not belong together; such a commit is an error of the caller.
//
// If a commit has a run guard, it must have a run row, a checkpoint of seq guard.seq + 1, and only
// rows of this run: events, messages and approvals of this seq, values up to it; a new thread only
// with the run's first commit. If the guard has `pending_for`, the commit must have neither run nor
// checkpoint, only rows of a pending write. If a commit has no run guard, it can have no rows of a
// run except outcomes of effects and the guarded message. A decision requires the guard of its
// approval. A later run of a thread has the values of its graph as values of the thread, and its
// first commit guards the thread.
Result<Done> check_commit(const Commit& commit);

// Errors that a store detects only with its stored rows; the same in all stores.
Error no_such_thread(const ThreadId& thread);
Error approval_exists(const InterruptId& interrupt);

}  // namespace belay::store
