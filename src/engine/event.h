#pragma once
// engine/event.h - the events that advance() takes and the actions that it returns.

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "belay/store.h"
#include "belay/thread.h"
#include "engine/run.h"

namespace belay::engine {

// The time of an event, and 64 random bits from which the engine makes ids and jitter.
struct Moment {
  Instant now{};
  std::uint64_t entropy = 0;
};

// The first event of a new run: its row is filled in, and nothing is stored yet.
struct Started {
  Moment moment;
  // Set: the run is queued, and a worker starts it at this time or later.
  std::optional<Instant> queued_until = std::nullopt;
  std::vector<RecordWrite> records = {};  // saved by the first commit
};
// The first event of a run made by fork_run(): it continues from a commit of another run.
struct Forked {
  Moment moment;
  bool to_queue = false;     // the fork is queued for a worker
  std::string request = {};  // digest by which a repeated request is recognised; empty: unknown
};
// The run was read from the store, and `session` claims it.
struct Claimed {
  Moment moment;
  SessionId session;
  // Requested by a person: also claims a quarantined run.
  bool is_manual = false;
};
// The commit in progress is durable (or lags, see WriteCommit::may_lag).
struct Committed {
  Moment moment;
  // The next event is a decision that a task waits for: the run must not pause before it.
  bool more = false;
};
// Identifies the attempt of a task that an event or an action is about.
struct AttemptId {
  // Positions of the subgraph tasks that contain it, outermost first.
  std::vector<std::size_t> path;
  std::size_t position = 0;
  TaskId task;
  int attempt = 1;
};
// Returns the seed of an attempt's pseudo-random numbers. It varies with the run: the id of a task
// is a hash over the id of its run, which is random.
inline std::uint64_t seed_of(const AttemptId& attempt) {
  std::uint64_t seed = static_cast<std::uint64_t>(attempt.attempt);
  for (std::size_t i = 8; i < 16; ++i) {
    seed += static_cast<std::uint64_t>(attempt.task.bytes[i]) << 8 * (i - 8);
  }
  return seed;
}

struct NodeEnded {
  Moment moment;
  AttemptId of;
  NodeUpdate answer;
  NodeEffects effects;
  // The end of another task follows immediately: the result of this one can wait for its commit.
  bool more = false;
};
struct NodeFailed {
  Moment moment;
  AttemptId of;
  Error error;
  NodeEffects effects;  // emitted events, and the journal of its effects
};
// The node has raised an interrupt.
struct NodeInterrupted {
  Moment moment;
  AttemptId of;
  InterruptRequest question;
  NodeEffects effects;  // only the journal of its effects is used
};
// The backoff after a failed attempt, or the time of a wait node, is over.
struct TaskDue {
  Moment moment;
  AttemptId of;
};
// The working time of the run has reached RunOptions::timeout.
struct RunTimedOut {
  Moment moment;
};
// An open approval of the run is decided, or has expired.
//
// Paused run: the commit records the decision and makes `session` the owner. If the approval has
// expired by the store's clock, it records the expiry instead (Commit::if_expired).
// Queued or running run: the commit writes only the row of the approval; the owner of the run reads
// it, and applies it with `is_stored`.
// Refused if the approval is damaged, or the edited payload does not fit.
struct Decided {
  enum class Verdict { approved, rejected, expired };
  Moment moment;
  SessionId session;
  ApprovalRow approval;
  Verdict verdict = Verdict::approved;
  std::string decided_by;
  std::string on_behalf_of;
  std::string comment;
  std::optional<Value> edited;
  std::string choice = {};  // empty: that of the verdict; not of an expiry
  Value answer = {};
  // Of an approval that needs several decisions: this one is the last.
  std::vector<ApprovalVote> votes = {};
  // The decision is stored already, without a commit of the run: only its consequences are left.
  bool is_stored = false;
  // With is_stored: the next event is another such decision, and the run must not pause before it.
  bool more = false;
  // A concurrency limit is reached: the run is queued instead of running.
  bool to_queue = false;
};
// An approval of a run that is queued or running, and that this process has not read, has expired:
// the commit writes only the row of the approval. Uses only the tenant of the run.
struct ExpiredWhileActive {
  Moment moment;
  ApprovalRow approval;
};
// The stored data of the run cannot be read: it is quarantined. Uses only the row of the run, and
// not the graph.
struct Damaged {
  Moment moment;
  CheckpointRow newest;  // the newest commit
  std::string reason;
};
// The timer of a paused run is due, or a person continues it at its breakpoint.
struct Resumed {
  Moment moment;
  SessionId session;
  // At a breakpoint: the breakpoints of the run from here on; unset: unchanged.
  std::optional<Breakpoints> breakpoints = std::nullopt;
};
// A person accepts the materials of the graph for a run without an owner. The bill of the run gets
// these groups, without those that are empty, and nothing else changes.
struct Consented {
  Moment moment;
  Consent consent;
  BillOfMaterials accepted;
};
// The store has refused the newest commit of the owner, because a record that a node saved did not
// have its expected version. The run was read again: its tasks are executed again, or it fails.
struct RecordChanged {
  Moment moment;
  bool fails = false;
};
// The process drains: the run returns to its queue. No more tasks are started. Running tasks can
// complete and are saved; the next commit after that releases the run.
struct Released {
  Moment moment;
  // The process has no more time: running tasks are abandoned, and the run is released now.
  bool is_urgent = false;
};
// Nodes wait until these rows of their effects are durable. With Durability::exit, the commit also
// contains the deferred steps: after a crash, the restored run must know the task of an intent.
struct EffectsRecorded {
  Moment moment;
  std::vector<EffectRow> rows;
};
struct Cancelled {
  Moment moment;
  std::string by;
  std::string on_behalf_of = {};
  // A live process executes the run: the time since its newest commit counts as working time.
  bool is_worked_on = false;
  // The run is of restore_without_graph(): the event uses neither the graph nor the nodes of tasks.
  // The pending flag of an approval does not change, and the commit records that.
  bool lacks_code = false;
};

using Event =
    std::variant<Started, Forked, Claimed, Committed, NodeEnded, NodeFailed, NodeInterrupted,
                 TaskDue, RunTimedOut, Decided, ExpiredWhileActive, Damaged, Resumed, Consented,
                 RecordChanged, Released, EffectsRecorded, Cancelled>;

// Starts one attempt of a node with this state.
struct StartNode {
  AttemptId attempt;
  const GraphDefinition::Node* node = nullptr;
  std::shared_ptr<const void> state;
};
// Writes the commit. The driver then passes in Committed, or stops if the run was fenced. The
// actions of an event contain at most one.
struct WriteCommit {
  std::unique_ptr<Commit> commit;  // never null; a pointer because a commit is large
  bool may_lag = false;            // with Durability::async: Committed can precede its durability
  // With Commit::if_expired: the run after those rows, if the outcome is `expired`.
  std::unique_ptr<Run> if_expired = nullptr;
};
// Passes in TaskDue at `due`.
struct WaitForTask {
  AttemptId attempt;
  Instant due{};
};
// The run has ended, is paused, or was released: this process has nothing left to do for it.
struct Stop {};
// The caller of the event gets this error. The run is unchanged, and there are no other actions.
struct Refuse {
  Error why;
};

using Action = std::variant<StartNode, WriteCommit, WaitForTask, Stop, Refuse>;

}  // namespace belay::engine
