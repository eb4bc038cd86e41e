#pragma once
// engine/event.h - what can happen to a run, and what the driver is to do about it.

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "belay/store.h"
#include "engine/run.h"

namespace belay::engine {

// When it happened, and 64 random bits for what the engine makes of it: ids and jitter.
struct Moment {
  Instant now{};
  std::uint64_t entropy = 0;
};

// The run's first event: its row is filled in, nothing is stored yet.
struct Started {
  Moment moment;
  // Set: it goes to the queue, to be begun by a worker no sooner than this.
  std::optional<Instant> queued_until = std::nullopt;
};
// The first event of a run made by fork_run(): it goes on where another stood.
struct Forked {
  Moment moment;
  bool to_queue = false;     // for a worker
  std::string request = {};  // digest of the request, to recognise it; empty: unknown
};
// The run has been read from the store, to be worked on by `session`.
struct Claimed {
  Moment moment;
  SessionId session;
  // A person asks for it: a quarantined run gets another chance.
  bool is_manual = false;
};
// The commit under way is durable.
struct Committed {
  Moment moment;
  // A decision that somebody waits with comes next: a run that can't go on must not pause before.
  bool more = false;
};
// Which attempt of which task an event tells of.
struct AttemptId {
  // Positions of the subgraphs' tasks that it is inside of, from the outermost.
  std::vector<std::size_t> path;
  std::size_t position = 0;
  TaskId task;
  int attempt = 1;
};
// What an attempt's pseudo-random bits begin with. The id of a task is a hash of its run, whose id
// is random.
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
  // Another task's end follows at once: what this one came to may wait for that one's commit.
  bool more = false;
};
struct NodeFailed {
  Moment moment;
  AttemptId of;
  Error error;
  NodeEffects effects;  // what it emitted, and the journal of its effects
};
// The node asks a person in its middle.
struct NodeInterrupted {
  Moment moment;
  AttemptId of;
  InterruptRequest question;
  NodeEffects effects;  // only the journal of its effects counts
};
// The wait after a failed attempt, or of a wait node, is over.
struct TaskDue {
  Moment moment;
  AttemptId of;
};
// The run has worked for as long as its options allow.
struct RunTimedOut {
  Moment moment;
};
// An open approval of the run is decided, or has expired. `session` goes on with it.
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
  // It was committed while this very session worked on the run; only its consequences are left.
  bool is_stored = false;
  // There is no place for the run now: it goes on from the queue.
  bool to_queue = false;
};
// The run paused for a time that has come, or at a breakpoint that a person lets it pass.
struct Resumed {
  Moment moment;
  SessionId session;
};
// The run returns to its queue, because its process ends. Nothing new is started. Running tasks can
// finish and are saved; the commit after that releases the run.
struct Released {
  Moment moment;
  // Running tasks are abandoned and the run is released now: the process has no more time.
  bool is_urgent = false;
};
// With Durability::exit: what was held back is to be committed now, since an effect waits for it.
struct Flushed {
  Moment moment;
};
struct Cancelled {
  Moment moment;
  std::string by;
  std::string on_behalf_of = {};
  // A live process executes the run: the time since its newest commit counts as working time.
  bool is_worked_on = false;
};

using Event =
    std::variant<Started, Forked, Claimed, Committed, NodeEnded, NodeFailed, NodeInterrupted,
                 TaskDue, RunTimedOut, Decided, Resumed, Released, Flushed, Cancelled>;

// Starts one attempt of a node, on this state.
struct StartNode {
  AttemptId attempt;
  const GraphDefinition::Node* node = nullptr;
  std::shared_ptr<const void> state;
};
// Writes the commit; then comes Committed, or nothing more if the run was fenced. At most one in
// the actions of an event.
struct WriteCommit {
  std::unique_ptr<Commit> commit;  // never null; apart, for it is large
  bool may_lag = false;  // with Durability::async: Committed may come before it is durable
};
// Hands in TaskDue at `due`.
struct WaitForTask {
  AttemptId attempt;
  Instant due{};
};
// The run has ended, waits, or was given back: nothing is left to do in this process.
struct Stop {};

using Action = std::variant<StartNode, WriteCommit, WaitForTask, Stop>;

}  // namespace belay::engine
