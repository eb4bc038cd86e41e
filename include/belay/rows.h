#pragma once
// belay/rows.h - what a store keeps, as plain rows, and how to ask for them.
//
// Bytes: a value, payload or record is an envelope: a 4-byte little-endian length, a type in UTF-8
// ("json"), then the data. The type names the whole chain of what was done to the data. Stores keep
// envelopes as they are and never look inside.

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
enum class ApprovalStatus { open, approved, rejected, expired, closed };
// What a commit of a run was. `input` is its first; `claim` a take-over by another session.
enum class CommitKind { input, node, attempt, pause, decision, expiry, claim, failure, cancel };

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
  friend bool operator==(const RunRow&, const RunRow&) = default;
};

// One commit of a run. Its id is the commit's id too: a run has one checkpoint a commit.
struct CheckpointRow {
  CheckpointId id;      // sorts by time
  CheckpointId parent;  // null for the first
  RunId run;
  std::string space;  // namespace of a subgraph; empty for the run's own graph
  std::uint64_t seq = 0;
  std::uint64_t epoch = 0;
  SessionId session;  // who committed
  CommitKind kind = CommitKind::node;
  std::string node;  // the node that this commit ends, or that failed or waits
  std::int64_t superstep = 0;
  std::string next_tasks;  // JSON: what is to run next, decided once and for all
  Digest chain_hash{};     // over the parent's hash and all that this checkpoint says
  std::int64_t retry_count = 0;
  RunStatus status = RunStatus::running;  // the run's status after this commit
  Instant created_at{};
  friend bool operator==(const CheckpointRow&, const CheckpointRow&) = default;
};

// A channel's new value. Only changed channels are written.
struct ValueRow {
  RunId run;
  std::string space;
  std::string channel;
  std::uint64_t seq = 0;  // of the commit that wrote it
  std::string envelope;
  friend bool operator==(const ValueRow&, const ValueRow&) = default;
};

// A durable event: (seq, index) is its id within the run.
struct EventRow {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::string type;  // "status", "node", "attempt", "approval", "custom"
  std::string body;  // JSON
  Instant created_at{};
  friend bool operator==(const EventRow&, const EventRow&) = default;
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
  std::string comment;
  std::string edited;    // envelope of an edited payload; empty when it was taken as shown
  Digest edited_hash{};  // of its plain text
  Instant decided_at{};
  friend bool operator==(const ApprovalRow&, const ApprovalRow&) = default;
};

// A record to be saved or erased: see record.h.
struct RecordPut {
  std::string collection;
  UserId user;
  std::string key;
  std::string envelope;  // empty to erase
  std::vector<std::pair<std::string, std::string>> indexed;
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
  friend bool operator==(const StoredRecord&, const StoredRecord&) = default;
};

struct ThreadFilter {
  TenantId tenant;
  std::optional<ThreadId> thread = std::nullopt;
  std::size_t limit = 100;  // newest first
};

struct RunFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<ThreadId> thread = std::nullopt;
  std::vector<RunStatus> statuses = {};  // empty: any
  std::size_t limit = 100;               // newest first
};

struct CheckpointFilter {
  TenantId tenant;
  RunId run;
  std::optional<std::uint64_t> seq = std::nullopt;         // only this one
  std::optional<std::uint64_t> before_seq = std::nullopt;  // older than this
  std::size_t limit = 100;                                 // newest first
};

struct ValueFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t at_seq = 0;    // as of this commit
  bool every_version = false;  // false: the newest of each channel; true: all, oldest first
};

struct EventFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t after_seq = 0;  // only events after (after_seq, after_index), in order
  std::int64_t after_index = -1;
  std::size_t limit = 1000;
};

struct ApprovalFilter {
  TenantId tenant;
  std::optional<InterruptId> interrupt = std::nullopt;
  std::optional<RunId> run = std::nullopt;
  bool only_open = false;
  std::optional<Instant> expired_at = std::nullopt;  // only those whose expiry is not after this
  std::size_t limit = 100;                           // newest first
};

struct RecordQuery {
  TenantId tenant;
  std::string collection;
  UserId user;
  std::string key = {};    // not empty: only this one
  std::string field = {};  // not empty: only those whose indexed field has this value
  std::string value = {};
  std::string after = {};  // not empty: only keys after this one
  std::size_t limit = 1000;
};

std::string json_envelope(std::string_view json);
// The JSON text inside; `corrupt` for damaged bytes, `invalid` for a type that needs a newer Belay
// or a key.
Result<std::string_view> json_in_envelope(std::string_view envelope);

std::string_view name_of(RunStatus status);
std::string_view name_of(ApprovalStatus status);
std::string_view name_of(CommitKind kind);

}  // namespace belay
