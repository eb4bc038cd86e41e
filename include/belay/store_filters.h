#pragma once
// belay/store_filters.h - the filters of Snapshot's reads and of Store::poll_runs() (store.h).

#include <chrono>
#include <optional>
#include <utility>

#include "belay/limits.h"
#include "belay/queue.h"
#include "belay/record.h"
#include "belay/rows.h"

namespace belay {

struct ThreadFilter {
  TenantId tenant;
  std::optional<ThreadId> thread = std::nullopt;
  std::optional<ThreadId> before = std::nullopt;  // only threads created before it: the next page
  std::size_t limit = limits::bounded(100);       // newest first
  std::optional<UserId> user = std::nullopt;      // only threads of this user
};

struct RunFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<ThreadId> thread = std::nullopt;
  std::vector<RunStatus> statuses = {};  // empty: any
  // Only queued and paused runs whose due_at is set and not after this, earliest first; without
  // runs that wait for the end of earlier runs of their thread.
  std::optional<Instant> due_by = std::nullopt;
  std::optional<Instant> updated_before = std::nullopt;
  std::optional<RunId> before = std::nullopt;  // only runs created before it: the next page
  std::size_t limit = limits::bounded(100);    // newest first
  std::vector<std::string> queues = {};        // empty: any
  std::vector<std::string> graphs = {};        // empty: any
  std::vector<SessionId> owners = {};          // empty: any owner, or none
  // Runs that are skipped, so that `limit` applies to the others.
  std::vector<RunId> except_runs = {};
  std::vector<UserId> except_users = {};
  std::vector<std::string> except_keys = {};  // concurrency keys
  std::vector<std::string> except_queues = {};
  bool only_current = false;   // with `thread`: only its oldest run that has not ended
  bool by_priority = false;    // with due_by: highest priority first, then by due time
  bool without_input = false;  // input and options are left empty: they might be large
  // Only runs that have not ended, in the order of an index, whichever that is: a page costs the
  // same wherever it begins. With no other conditions than `after`, the last run of the page
  // before; no runs if that has been deleted.
  bool in_pages = false;
  std::optional<RunId> after = std::nullopt;
  std::optional<UserId> user = std::nullopt;  // only runs of this user
};

// Selects candidates for a worker: see Store::poll_runs().
struct PollFilter {
  std::optional<TenantId> tenant = std::nullopt;  // unset: every tenant
  SessionId session = {};                         // of the worker
  Instant now{};
  std::vector<std::string> queues = {};  // empty: any
  std::vector<std::string> graphs = {};  // empty: any
  std::vector<RunId> except_runs = {};   // executed by the worker, or waiting for its next try
  // Candidates that the worker cannot execute: their visibility timeout ends now.
  std::vector<std::pair<TenantId, RunId>> returned_candidates = {};
  ConcurrencyLimits concurrency = {};  // runs for which one of them is reached are skipped
  std::size_t limit = 16;              // at most limits::poll_batch_max
  std::chrono::milliseconds visibility_timeout{10'000};
  // The tenants' shares of the candidates; a tenant that is not listed has 1.
  std::vector<std::pair<TenantId, std::uint32_t>> weights = {};
  // Number of candidates that the worker has received so far: continues the turns of the tenants.
  std::uint64_t round_robin_position = 0;
};

struct SessionFilter {
  std::optional<TenantId> tenant = std::nullopt;  // counts runs of this tenant; unset: all runs
  bool only_owners = false;                       // only sessions that own running runs
  std::size_t limit = limits::page_rows_max;      // newest first
};

struct CheckpointFilter {
  TenantId tenant;
  RunId run;
  std::string checkpoint_ns = {};
  std::optional<std::uint64_t> seq = std::nullopt;         // only this seq
  std::optional<std::uint64_t> before_seq = std::nullopt;  // only lower seqs
  std::size_t limit = limits::bounded(100);                // newest first
};

struct ValueFilter {
  TenantId tenant;
  RunId run;
  ThreadId thread = {};      // not empty: values of this thread's state, not of `run`
  std::uint64_t at_seq = 0;  // as of this state_seq
  // False: for each channel, the newest `set` and the rows after it, ordered by (namespace,
  // channel, seq, index). True: all rows, ordered by (seq, namespace, channel, index).
  bool every_version = false;
  std::uint64_t after_seq = 0;                              // with every_version: only higher seqs
  std::optional<std::string> checkpoint_ns = std::nullopt;  // only this namespace
};

struct TaskFilter {
  TenantId tenant;
  RunId run;
  std::string checkpoint_ns = {};
  std::optional<std::int64_t> superstep = std::nullopt;  // unset: all, by (superstep, position)
};

struct EffectFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<TaskId> task = std::nullopt;
  std::vector<EffectStatus> statuses = {};  // empty: any
  // With `run`: only effects after this key, ordered by (task, name); ({}, "") for the first page.
  // Without `run`, effects are ordered by their start time.
  std::optional<std::pair<TaskId, std::string>> after = std::nullopt;
  std::size_t limit = limits::page_rows_max;
};

struct OutboxFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<Instant> due_by = std::nullopt;  // only waiting messages that are due by then
  std::vector<std::string> topics = {};          // empty: all topics
  // With `due_by`: only the oldest such message of each run, in no particular order.
  bool first_of_each_run = false;
  // With `run`: only messages after this key, ordered by (seq, index).
  std::optional<std::pair<std::uint64_t, std::int64_t>> after = std::nullopt;
  bool without_body = false;                  // envelopes are left empty: they might be large
  bool without_delivered = false;             // only waiting or discarded messages
  std::size_t limit = limits::page_rows_max;  // oldest first
  std::optional<UserId> user = std::nullopt;  // only messages of this user's runs
};

struct EventFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t after_seq = 0;  // only events after (after_seq, after_index), in order
  std::int64_t after_index = -1;
  std::size_t limit = limits::page_rows_max;
};

struct ApprovalFilter {
  TenantId tenant;
  std::optional<InterruptId> interrupt = std::nullopt;
  std::optional<RunId> run = std::nullopt;
  bool only_open = false;
  std::optional<Instant> expired_at = std::nullopt;  // only approvals that expire by then
  std::vector<std::string> graphs = {};              // empty: any
  std::optional<InterruptId> before = std::nullopt;  // only older approvals: the next page
  std::size_t limit = limits::bounded(100);          // newest first
  std::optional<UserId> user = std::nullopt;         // only approvals of this user's runs
  // Only approvals whose ids are in this range, both ends included.
  std::optional<std::pair<InterruptId, InterruptId>> between = std::nullopt;
  // A read by run or by id rejects a damaged approval; a page of many marks it as damaged. True: it
  // is always marked, for callers that need to identify the affected row.
  bool with_damaged = false;
};

struct RecordQuery {
  TenantId tenant;
  std::string collection;
  UserId user;
  std::string key = {};    // not empty: only this key
  std::string field = {};  // not empty: only records whose indexed field has this value
  std::string value = {};
  std::string after = {};  // not empty: only keys after this one
  std::size_t limit = limits::page_rows_max;
  // Set: `field` is an ordered index (see is_ordered()), and `value` is not used.
  std::optional<RecordRange> range = {};
  Instant now = {};  // set: without the records that have expired by then
  // Only the records that have expired by `now`, of any collection, user and key, in any order.
  bool only_expired = false;
  // All records of the collection, ordered by user and key, after `user` and `after`.
  bool of_every_user = false;
};

// True for the name of an index whose values are ordered: encryption does not change them.
inline bool is_ordered(std::string_view index) { return index.starts_with("order:"); }
// An envelope of a tenant, of any table, as re-encryption reads it.
struct StoredEnvelope {
  // With every_kind, also stored bytes that might not be envelopes: a digest, the next tasks of a
  // checkpoint, and the seal of a part of a row (store/row_part.h), which may be empty.
  enum class Kind { envelope, digest, tasks, part };
  std::uint64_t position = 0;  // in this store; increases from page to page
  std::string subject;         // identifies its row: see store/envelope_subject.h
  std::string envelope;
  Kind kind = Kind::envelope;
  std::string bound = {};               // the data of its row that it is bound to
  std::vector<std::string> texts = {};  // of a part: as stored in their columns
};
// The last write of a blob, as a number that increases with each write of a blob by the tenant. It
// distinguishes an unused blob from one to which a new row has just referred again.
struct BlobUse {
  Digest id{};
  std::uint64_t last_put = 0;
  friend bool operator==(const BlobUse&, const BlobUse&) = default;
};

struct EnvelopeFilter {
  TenantId tenant;
  std::string other_than = {};  // only envelopes of another type than this
  std::uint64_t after = 0;      // only positions after this one
  std::size_t limit = limits::page_rows_max;
  bool every_kind = false;  // not only envelopes: see StoredEnvelope::Kind
};

}  // namespace belay
