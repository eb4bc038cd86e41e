#pragma once
// store/commit_check.h - what every commit must be before any store looks at its guard, so that all
// stores refuse the same ones with the same words.

#include "belay/store.h"

namespace belay::store {

// `invalid` for rows that do not belong together; such a commit is a mistake of the caller.
//
// With a guard: a run row and a checkpoint of seq guard.seq + 1, and every other row of that same
// run; events, messages and approvals of that seq, values up to it; a new thread only with the
// run's first commit. With a guard that is `pending_for` a run: neither run nor checkpoint, only
// what a pending write may hold. Without one: nothing of a run but the outcomes of effects, and the
// one message that is guarded. A decision only together with the guard of its approval.
Result<Done> check_commit(const Commit& commit);

// What is found out only beside the stored rows, in the same words from every store.
Error no_such_thread(const ThreadId& thread);
Error approval_exists(const InterruptId& interrupt);

}  // namespace belay::store
