#pragma once
// runtime/left_tasks.h - finds the place at which a change of a thread's state continues it.

#include "runtime/thread_place.h"

namespace belay {

// The tasks that the current run of a thread has left: those of a run that waits for a person, or
// that was cancelled or has failed. A completed run has left none.
struct LeftTasks {
  std::vector<FirstNode> nodes;
  // One of them has completed, or has started an effect: to start it again would repeat that.
  bool have_worked = false;
  // Nodes have completed that a join counts, and not all of its nodes: a new run forgets them.
  bool have_joined = false;
  // A decision of the run has approved values that the change can replace.
  bool follow_decision = false;
};

struct EditPlace {
  ThreadPlace thread;
  engine::RunBefore before;  // left by the current run, even if it has not ended
  LeftTasks left;
  std::optional<Error> busy = std::nullopt;  // a run is queued or running, or waits for a timer
};

// nullopt if the thread has no run. `from`: the commit to continue from, instead of the
// place that the current run has left; `not_found` if the thread does not have it. Without it, a
// busy thread is the error of the call.
Result<std::optional<EditPlace>> edit_place(Snapshot& view, const GraphRegistry& graphs,
                                            const TenantId& tenant, const ThreadId& thread,
                                            const std::optional<RunCommit>& from);

}  // namespace belay
