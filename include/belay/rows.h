#pragma once
// belay/rows.h - the rows of a store; belay/store.h reads and writes them.
//
// Bytes: a value, payload or record is an envelope: a 4-byte little-endian length, a type in UTF-8
// ("json"), then the data. The type names all transformations of the data, such as compression
// (docs/storage.md). Stores keep envelopes unchanged and never read their data.
//
// make_encrypted_store() computes each member `seal` or `..._seal` from a row's texts and from the
// other parts that must not be changed; a store keeps it unchanged. Empty in a program's own rows.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay {

// The enumerators are spelled as in SQL and JSON.
enum class RunStatus { queued, running, paused, completed, failed, cancelled, quarantined };
enum class PauseReason { approval, timer, breakpoint };  // `breakpoint`: waits for resume()
enum class ApprovalStatus { open, approved, rejected, expired, closed };
// The event of a commit. `input`: the run's first one; `claim`: a session became the owner; `fork`:
// it starts from another run's checkpoint; `consent`: a person accepted changed materials.
enum class CommitKind {
  input,
  node,
  attempt,
  pause,
  decision,
  expiry,
  claim,
  failure,
  cancel,
  timer,
  release,
  fork,
  quarantine,
  consent
};
// How an operand changes the channel: it replaces the value, or adds items, entries or a number.
// `reduce`: for the graph's own reducer, a pending write only; its superstep stores a `set`.
enum class WriteOp { set, append, merge, add, reduce };
// Of a task in a superstep of several: in its backoff, waiting for a decision, decided, completed.
enum class TaskStatus { waiting, asking, answered, done };
// See docs/effects.md: the receiver deduplicates by a key, or it does not.
enum class EffectClass { keyed, unkeyed };
// `intended`: started, outcome unknown; `uncertain`: unknown, and no record of it will follow.
enum class EffectStatus { intended, done, failed, uncertain, skipped };
enum class OutboxStatus { waiting, delivered, given_up };

inline bool is_final(RunStatus status) {
  return status == RunStatus::completed || status == RunStatus::failed ||
         status == RunStatus::cancelled;
}

struct ThreadRow {
  TenantId tenant;
  ThreadId thread;
  UserId user;
  std::string graph;
  RunId last_run;
  Instant created_at{};
  bool preserve = false;  // exempt from retention
  // A commit with CommitRows::thread_edit replaces the following members.
  std::string title = {};
  std::string metadata = {};  // JSON object; empty: none
  Instant expires_at{};       // then retention deletes the thread if no run is unfinished
  Instant updated_at{};       // of these members; unset: never edited
  std::string seal = {};
  friend bool operator==(const ThreadRow&, const ThreadRow&) = default;
};

struct RunRow {
  TenantId tenant;
  RunId run;
  ThreadId thread;
  UserId user;
  std::string graph;
  Digest graph_hash{};  // version of the graph that the run started with
  std::string input;    // envelope: the initial state, or the input for the thread's state
  std::string options;  // JSON: RunOptions
  Instant created_at{};
  RunId forked_from;            // null: not a fork
  std::uint64_t forked_at = 0;  // seq of that run's commit from which this run started
  std::string queue = "default";
  std::int64_t priority = 0;    // larger numbers run first
  std::string concurrency_key;  // runs with the same key share a limit; empty: none
  std::int64_t ordinal = 0;     // the number of runs that its thread had had before it
  // The following members change with every commit.
  RunStatus status = RunStatus::queued;
  std::string reason;            // with `paused`: a PauseReason; with `quarantined`: the cause
  std::string outcome;           // with `completed`: "saved", "rejected", ...
  std::string error_code;        // with `failed`: an ErrorCode's name
  std::string error;             // with `failed`: the error message
  std::uint64_t seq = 0;         // number of commits
  std::uint64_t epoch = 0;       // increases when the owner changes or the run is cancelled
  SessionId session;             // the owner; null: none
  CheckpointId checkpoint;       // the newest
  std::string node;              // the current or next nodes, comma-separated; "end"
  std::int64_t retry_count = 0;  // failed attempts of the whole run; never decreases
  std::int64_t worked_ms = 0;    // working time: includes backoffs, not waits for approvals
  Instant updated_at{};
  // With `queued` and `paused`: when the run is due (a delayed start, a timer, the first expiry of
  // an approval). Unset: it does not continue automatically.
  Instant due_at{};
  std::int64_t lost_claims = 0;  // owners that died in a row without completing a task
  std::string seal = {};
  std::string start_seal = {};  // covers the members that never change, except the input
  friend bool operator==(const RunRow&, const RunRow&) = default;
};

// True once the run has started from the state of its thread. False for a run that waits, or waited
// when it was cancelled, for the end of earlier runs of its thread: it has scheduled no task.
inline bool has_started(const RunRow& run) { return run.ordinal == 0 || !run.node.empty(); }
// The seq of a ValueRow that the run, or the thread's run `ordinal`, writes in its commit `seq`, or
// reads as of it.
inline std::uint64_t value_seq(std::int64_t ordinal, std::uint64_t seq) {
  return (static_cast<std::uint64_t>(ordinal) << 32) + seq;
}
inline std::uint64_t value_seq(const RunRow& run, std::uint64_t seq) {
  return value_seq(run.ordinal, seq);
}

// One commit of a run; the checkpoint's id is the commit's id. The checkpoints of a subgraph task
// are numbered within their own namespace.
struct CheckpointRow {
  CheckpointId id;      // sorts by time
  CheckpointId parent;  // null for the first
  RunId run;
  std::string checkpoint_ns;  // namespace of a subgraph task; empty for the run's own graph
  std::uint64_t seq = 0;
  // The values up to this seq form the state. Lower than `seq` during a superstep of several tasks:
  // the values above it are the pending writes of its completed tasks.
  std::uint64_t state_seq = 0;
  std::uint64_t epoch = 0;
  SessionId session;  // that committed
  CommitKind kind = CommitKind::node;
  std::string node;  // the nodes that this commit ends, comma-separated; or that failed or waits
  std::int64_t superstep = 0;
  std::string next_tasks;  // JSON: the tasks selected to run next, never selected again; encrypted:
                           // its envelope
  Digest chain_hash{};     // over the parent's chain hash and the contents of this checkpoint
  // Stored instead of the hash unless empty: its encrypted form by make_encrypted_store().
  std::string masked_hash = {};
  std::int64_t retry_count = 0;
  RunStatus status = RunStatus::running;  // the run's status after this commit
  Instant created_at{};
  friend bool operator==(const CheckpointRow&, const CheckpointRow&) = default;
};

// A channel's new value, or an operand that is combined with the previous value. Only changed
// channels are written. The value as of a state_seq is the newest `set` up to it, combined with all
// later rows up to it in the order of (seq, index).
//
// The first run of a thread has its own values, and so has each subgraph. All later runs of a
// thread share the values of the thread's state, where the seq is value_seq().
struct ValueRow {
  RunId run;        // null: a value of the thread's state
  ThreadId thread;  // empty: a value of the run
  std::string checkpoint_ns;
  std::string channel;
  std::uint64_t seq = 0;   // one more than the state_seq before it
  std::int64_t index = 0;  // position of the task that wrote it in its superstep
  WriteOp kind = WriteOp::set;
  std::string envelope;
  friend bool operator==(const ValueRow&, const ValueRow&) = default;
};

// A durable event: (seq, index) is its id within the run.
struct EventRow {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::string type;  // index 0: the commit's kind; others: "custom", "message"
  std::string body;  // JSON
  Instant created_at{};
  std::string seal = {};
  friend bool operator==(const EventRow&, const EventRow&) = default;
};

// The progress of one task in a superstep of several tasks; each new row replaces the previous one.
// A superstep of one task has no such rows: its checkpoints are sufficient.
struct TaskRow {
  RunId run;
  std::string checkpoint_ns;
  std::int64_t superstep = 0;
  std::int64_t position = 0;  // within the superstep
  TaskId task;
  TaskStatus status = TaskStatus::waiting;
  std::string envelope;  // format: engine/task_text.h
  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

// One effect, identified by (run, task, name). Once it is `done`, it does not change.
struct EffectRow {
  RunId run;
  TaskId task;
  std::string name;
  std::string node;
  EffectClass effect_class = EffectClass::keyed;
  EffectStatus status = EffectStatus::intended;
  std::string envelope;      // the result, or the error with `failed`; otherwise empty
  std::int64_t attempt = 1;  // number of recorded intents; 0: keyed effects record none
  Instant created_at{};
  Instant updated_at{};
  std::int64_t took_ms = -1;  // its newest call, for display; -1: no process has seen its end
  friend bool operator==(const EffectRow&, const EffectRow&) = default;
};

// A message that was committed with a node and is delivered at least once. (run, seq, index) is its
// id, by which the receiver deduplicates.
struct OutboxRow {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::string topic;
  std::string envelope;
  OutboxStatus status = OutboxStatus::waiting;
  std::int64_t attempts = 0;  // deliveries started so far
  std::string error;          // of the last delivery
  Instant due_at{};           // not delivered before this time
  Instant created_at{};
  std::string seal = {};
  friend bool operator==(const OutboxRow&, const OutboxRow&) = default;
};

// A large value, stored once for any number of rows that refer to it.
struct BlobRow {
  Digest id{};
  std::string envelope;
  friend bool operator==(const BlobRow&, const BlobRow&) = default;
};

struct ApprovalRow {
  TenantId tenant;
  InterruptId interrupt;
  ThreadId thread;
  RunId run;
  TaskId task;
  UserId user;
  std::string graph;
  std::string node;
  std::string question;
  std::string payload;    // envelope: the data shown
  Digest payload_hash{};  // of its plaintext
  std::string roles;      // a decider needs one of them; comma-separated; empty: none needed
  std::uint64_t seq = 0;  // of the commit that requested it
  Instant created_at{};
  Instant expires_at{};
  // Set by the decision.
  ApprovalStatus status = ApprovalStatus::open;
  std::string decided_by;
  std::string on_behalf_of;  // the name that decided_by acted for; empty: its own
  std::string comment;
  std::string edited;    // envelope of the edited payload; empty: not edited
  Digest edited_hash{};  // of its plaintext
  Instant decided_at{};
  std::string seal = {};           // covers the question
  std::string decision_seal = {};  // covers the members that the decision sets
  friend bool operator==(const ApprovalRow&, const ApprovalRow&) = default;
};

struct StoredRecord {
  std::string collection;
  UserId user;
  std::string key;
  std::string envelope;
  RunId run;
  std::uint64_t seq = 0;
  Instant updated_at{};
  std::string seal = {};
  std::uint64_t version = 0;    // increases with each save; a deleted key does not begin again
  Instant expires_at = {};      // unset: never
  std::string sort_value = {};  // with RecordQuery::range: the value by which it was found
  friend bool operator==(const StoredRecord&, const StoredRecord&) = default;
};

// Returns nullopt if the run is not paused, or its reason is unknown.
std::optional<PauseReason> pause_reason(const RunRow& run);

std::string json_envelope(std::string_view json);
// Returns the JSON text inside; `corrupt` for damaged bytes, `invalid` for a type that needs a
// newer Belay or a key.
Result<std::string_view> json_in_envelope(std::string_view envelope);

std::string_view name_of(RunStatus status);
std::string_view name_of(PauseReason reason);
std::string_view name_of(ApprovalStatus status);
std::string_view name_of(CommitKind kind);
std::string_view name_of(WriteOp kind);
std::string_view name_of(TaskStatus status);
std::string_view name_of(EffectClass effect_class);
std::string_view name_of(EffectStatus status);
std::string_view name_of(OutboxStatus status);

}  // namespace belay
