#pragma once
// belay/thread.h - threads: the runs of one conversation, one after another, and how to start them.
//
// A thread has a state. Its first run starts from its input alone; each later run starts from the
// state that the run before it has left, with its own input applied to it: a channel that the graph
// accumulates (GraphBuilder::accumulate()) gets the input added, one with a custom reducer gets it
// as its operand, and any other one is replaced. Channels that equal their defaults are not part of
// an input. The runs of a thread are executed one at a time, in the order of their starts.
//
// The current run of a thread is the oldest that has not ended, or the newest if all have ended.
// A graph of one run per thread (GraphBuilder::one_run_per_thread()) has no later runs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "belay/limits.h"
#include "belay/queue.h"
#include "belay/record.h"
#include "belay/value.h"

namespace belay {

// The effect of a start on a thread with a run that has not ended.
enum class BusyThread {
  reject,     // `conflict`: nothing is started
  enqueue,    // the run waits in its queue until the earlier runs have ended
  interrupt,  // the earlier runs are cancelled; the run starts from the state that they have left
  rollback,   // they are cancelled and deleted; the run starts from the state before them
};
std::string_view name_of(BusyThread busy);
std::optional<BusyThread> busy_thread_named(std::string_view name);

// A person's change of the state of a thread, with which a run begins: see docs/threads.md. It
// replaces the thread's run that waits for a person, and starts those of its nodes again that had
// not completed. `conflict` if a run of the thread is queued or running, or if its nodes have
// started effects; `forbidden` if a node would be started behind an approval that it skips.
//
// With `from`, the run begins from that commit of the thread: with its state and its next nodes,
// all of which start again, whatever effects they have started since. Without a change of the
// state, they can be behind a decided approval. BusyThread::interrupt then also cancels runs that
// are queued or running. `not_found` for a commit that the thread does not have.
struct StateEdit {
  Value values = {};                  // an object of channels, applied as an input is; null: none
  std::string as_node = {};           // whose result they are: see RunBeginning; empty: none
  std::vector<FirstNode> go_to = {};  // nodes to start in addition
  bool held = false;                  // see RunBeginning
  bool may_decide = true;             // false: only if the graph has no approvals
  std::optional<RunCommit> from = std::nullopt;
};

struct StartOptions {
  TenantId tenant = default_tenant();
  UserId user = UserId("local");
  // Empty: a random id. A new name starts a thread, a known one continues it: `invalid` for another
  // graph, or an input that does not fit the state of the thread; `conflict` for another user.
  //
  // Graphs of one run per thread: if the thread has a run of the same graph and input, start()
  // continues that run, or returns it if it has ended or is running. `invalid` for another input.
  ThreadId thread = {};
  bool thread_is_new = false;  // `thread` is a random id: it has no run yet
  // The caller has read a run of `thread`: `not_found` if the thread was deleted since. A remote
  // service ignores it.
  bool thread_exists = false;
  // Names the run. A start of the same user with a known key starts nothing: it returns the run of
  // the key, and continues it if no process does. `invalid` if that has another thread, graph,
  // input or edit. Empty: none.
  std::string idempotency_key = {};
  BusyThread if_busy = BusyThread::reject;
  std::optional<StateEdit> edit = std::nullopt;  // its values replace the input
  RunSettings run = {};
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;         // larger numbers run first
  std::string concurrency_key = {};  // runs with the same key share a limit; empty: none
  // Saved by the run's first commit. `conflict` if one of them does not have its expected version:
  // nothing is started. Not saved if the key, or a graph of one run per thread, finds a run. A
  // remote service does not accept any.
  std::vector<RecordWrite> records = {};
};

// Of a person: a run continues although its graph refuses the change of its materials.
struct Consent {
  std::string by;
  std::string on_behalf_of = {};  // empty: `by` acted in its own name
};

// The status of a thread follows from that of its current run.
enum class ThreadStatus {
  idle,         // it completed, or was cancelled
  busy,         // it is queued or running, or waits for a timer
  interrupted,  // it waits for a person
  error,        // it failed, or is quarantined
};
ThreadStatus thread_status(const RunRow& current);
std::string_view name_of(ThreadStatus status);

// Changes to a thread; unset members remain unchanged.
struct ThreadSettings {
  std::optional<std::string> title = std::nullopt;
  // An object, merged into the stored one; a member that is null is removed.
  std::optional<Value> metadata = std::nullopt;
  std::optional<Instant> expires_at = std::nullopt;  // unset Instant: never
};

}  // namespace belay
