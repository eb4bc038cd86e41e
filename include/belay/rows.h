#pragma once
// belay/rows.h - what a store keeps, as plain rows; belay/store.h has how to ask for them.
//
// Bytes: a value, payload or record is an envelope: a 4-byte little-endian length, a type in UTF-8
// ("json"), then the data. The type names the whole chain of what was done to the data
// (docs/storage.md). Stores keep envelopes as they are and never look inside.
//
// A member `seal` or `..._seal` is computed by make_encrypted_store() from a row's texts and from
// the other parts that must not be changed; a store keeps it unchanged. Empty in the rows of
// programs.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay {

// The enumerators are spelled as in SQL and JSON.
enum class RunStatus { queued, running, paused, completed, failed, cancelled, quarantined };
enum class ApprovalStatus { open, approved, rejected, expired, closed };
// What a commit of a run was. `input` is its first; `claim` a take-over by another session.
// `timer`: its time had come; `release` gave it back to the queue; `fork` began it from a
// checkpoint of another run.
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
  quarantine
};
// How a stored value combines with what the channel held before: it replaces it, adds items to a
// list, adds entries to an object, adds a number. `reduce` waits for a graph's own reducer: it
// counts only while its superstep is under way, whose end stores what came of it as `set`.
enum class WriteOp { set, append, merge, add, reduce };
// Of a task in a superstep of several: it waits for its next attempt, for a person, or has ended.
enum class TaskStatus { waiting, asking, answered, done };
// B and C of docs/effects.md: the other side knows our key, or it does not.
enum class EffectClass { keyed, unkeyed };
// `intended`: begun, its outcome not known; `uncertain`: it will not become known by itself.
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
  bool preserve = false;  // retention leaves it alone
  std::string seal = {};
  friend bool operator==(const ThreadRow&, const ThreadRow&) = default;
};

struct RunRow {
  TenantId tenant;
  RunId run;
  ThreadId thread;
  UserId user;
  std::string graph;
  Digest graph_hash{};  // of the graph that the run began with
  std::string input;    // envelope: the state that it began with
  std::string options;  // JSON: RunOptions
  Instant created_at{};
  RunId forked_from;            // null: it was not forked
  std::uint64_t forked_at = 0;  // seq of the commit there that it goes on from
  std::string queue = "default";
  std::int64_t priority = 0;    // within its queue the greater goes first
  std::string concurrency_key;  // runs that share it are limited together; empty: none
  // What follows changes with every commit.
  RunStatus status = RunStatus::queued;
  std::string reason;            // with `paused`: what it waits for
  std::string outcome;           // with `completed`: "saved", "rejected", ...
  std::string error_code;        // with `failed`: an ErrorCode's name
  std::string error;             // with `failed`: the sentence
  std::uint64_t seq = 0;         // commits so far
  std::uint64_t epoch = 0;       // grows whenever the owner changes
  SessionId session;             // the owner; null when nobody works on it
  CheckpointId checkpoint;       // the newest
  std::string node;              // where it stands: the next node, or "end"
  std::int64_t retry_count = 0;  // failed attempts of the whole run; never decreases
  std::int64_t worked_ms = 0;    // time worked, retry waits included, waits for people not
  Instant updated_at{};
  // With `queued` and `paused`: when it can go on by itself (a delayed start, a timer, the first
  // expiry of an approval). Unset: never by itself.
  Instant due_at{};
  std::int64_t lost_claims = 0;  // processes that died with it since it last got on
  std::string seal = {};
  std::string start_seal = {};  // of the parts that never change, except the input
  friend bool operator==(const RunRow&, const RunRow&) = default;
};

// One commit of a run. Its id is the commit's id too: a run has one checkpoint a commit. The
// checkpoints of a subgraph's visit are numbered within their own space.
struct CheckpointRow {
  CheckpointId id;      // sorts by time
  CheckpointId parent;  // null for the first
  RunId run;
  std::string checkpoint_ns;  // namespace of a subgraph; empty for the run's own graph
  std::uint64_t seq = 0;
  // The values that count are those up to this seq. Less than `seq` while a superstep of several
  // tasks is under way: what its finished tasks wrote waits beyond it.
  std::uint64_t state_seq = 0;
  std::uint64_t epoch = 0;
  SessionId session;  // who committed
  CommitKind kind = CommitKind::node;
  std::string node;  // the nodes that this commit ends, by commas; or that failed or waits
  std::int64_t superstep = 0;
  std::string next_tasks;  // JSON: what is to run next, decided once and for all; or its envelope
  Digest chain_hash{};     // over the parent's hash and all that this checkpoint says
  std::string masked_hash =
      {};  // kept in its place unless empty: what make_encrypted_store() made of it
  std::int64_t retry_count = 0;
  RunStatus status = RunStatus::running;  // the run's status after this commit
  Instant created_at{};
  friend bool operator==(const CheckpointRow&, const CheckpointRow&) = default;
};

// A channel's new value, or what is added to the one before. Only changed channels are written.
// The value as of a state_seq: the newest `set` up to it, then all rows after that one in the
// order of (seq, index).
struct ValueRow {
  RunId run;
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
  std::string type;  // of index 0 the commit's kind; then "custom", "message"
  std::string body;  // JSON
  Instant created_at{};
  std::string seal = {};
  friend bool operator==(const EventRow&, const EventRow&) = default;
};

// What is known of one task of a superstep of several: written as it happens, and the last one
// counts. A superstep of one task has none; its checkpoints say it all.
struct TaskRow {
  RunId run;
  std::string checkpoint_ns;
  std::int64_t superstep = 0;
  std::int64_t position = 0;  // within the superstep
  TaskId task;
  TaskStatus status = TaskStatus::waiting;
  std::string envelope;  // engine/task_text.h says what is in it
  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

// One effect on the outside world, by (run, task, name). Once `done`, it stays as it is.
struct EffectRow {
  RunId run;
  TaskId task;
  std::string name;
  std::string node;
  EffectClass effect_class = EffectClass::keyed;
  EffectStatus status = EffectStatus::intended;
  std::string envelope;      // its result, or the error with `failed`; empty before
  std::int64_t attempt = 1;  // calls that were intended so far; 0 where no intent is recorded
  Instant created_at{};
  Instant updated_at{};
  friend bool operator==(const EffectRow&, const EffectRow&) = default;
};

// A message that was committed with a run's step and is to be delivered at least once. (run, seq,
// index) is its id, and what a receiver deduplicates by.
struct OutboxRow {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::string topic;
  std::string envelope;
  OutboxStatus status = OutboxStatus::waiting;
  std::int64_t attempts = 0;  // begun so far
  std::string error;          // of the last one
  Instant due_at{};           // not to be tried before
  Instant created_at{};
  std::string seal = {};
  friend bool operator==(const OutboxRow&, const OutboxRow&) = default;
};

// A large value, stored once however many rows name it.
struct BlobRow {
  Digest id{};
  std::string envelope;
  friend bool operator==(const BlobRow&, const BlobRow&) = default;
};

// Any envelope of a tenant, wherever it is stored: what re-encryption goes through.
struct StoredEnvelope {
  // With every_kind, also stored bytes that might not be envelopes: a digest, the next tasks of a
  // checkpoint, and the seal of a part of a row (store/row_part.h), which may be empty.
  enum class Kind { envelope, digest, tasks, part };
  std::uint64_t position = 0;  // in this store; grows from one page to the next
  std::string subject;         // which row it belongs to: see store/envelope_subject.h
  std::string envelope;
  Kind kind = Kind::envelope;
  std::string bound = {};               // the data of its row that it is bound to
  std::vector<std::string> texts = {};  // of a part: as stored in their columns
};
// When a commit last put a blob, as a number that grows with every put of the tenant: it tells one
// that nothing names from one that has just been named again.
struct BlobUse {
  Digest id{};
  std::uint64_t last_put = 0;
  friend bool operator==(const BlobUse&, const BlobUse&) = default;
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
  std::string payload;    // envelope: what is shown
  Digest payload_hash{};  // of its plain text
  std::string roles;      // who may decide, separated by commas; empty: anyone
  std::uint64_t seq = 0;  // of the commit that asked
  Instant created_at{};
  Instant expires_at{};
  // Set by the decision.
  ApprovalStatus status = ApprovalStatus::open;
  std::string decided_by;
  std::string on_behalf_of;  // the name that decided_by acted for; empty: its own
  std::string comment;
  std::string edited;    // envelope of an edited payload; empty when it was taken as shown
  Digest edited_hash{};  // of its plain text
  Instant decided_at{};
  std::string seal = {};           // covers the question
  std::string decision_seal = {};  // covers the members that the decision sets
  friend bool operator==(const ApprovalRow&, const ApprovalRow&) = default;
};

// A record to be saved or erased: see record.h.
struct RecordPut {
  std::string collection;
  UserId user;
  std::string key;
  std::string envelope;  // empty to erase
  std::vector<std::pair<std::string, std::string>> indexed;
  std::string seal = {};  // covers `indexed`
  friend bool operator==(const RecordPut&, const RecordPut&) = default;
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
  friend bool operator==(const StoredRecord&, const StoredRecord&) = default;
};

std::string json_envelope(std::string_view json);
// The JSON text inside; `corrupt` for damaged bytes, `invalid` for a type that needs a newer Belay
// or a key.
Result<std::string_view> json_in_envelope(std::string_view envelope);

std::string_view name_of(RunStatus status);
std::string_view name_of(ApprovalStatus status);
std::string_view name_of(CommitKind kind);
std::string_view name_of(WriteOp kind);
std::string_view name_of(TaskStatus status);
std::string_view name_of(EffectClass effect_class);
std::string_view name_of(EffectStatus status);
std::string_view name_of(OutboxStatus status);

}  // namespace belay
