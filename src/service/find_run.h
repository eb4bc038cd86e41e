#pragma once
// service/find_run.h - finds a run of a thread, in one snapshot of the store.

#include "belay/store.h"

namespace belay {

// Returns `run`, if it is a run of the thread; without it, the thread's current run. Fails with
// `not_found` if the thread or the run does not exist; `call` is the program's name in the
// suggested command.
Result<RunRow> run_of_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                             const std::string& call,
                             const std::optional<RunId>& run = std::nullopt);

// A thread and its current run. Fails in the same way.
struct FoundThread {
  ThreadRow thread;
  RunRow run;
};
Result<FoundThread> find_thread(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                const std::string& call);

// Returns the run for whose end a run waits because it was started before it, on the same thread;
// nullopt if the run does not wait for another one.
Result<std::optional<RunId>> run_ahead_of(Snapshot& view, const RunRow& run);

}  // namespace belay
