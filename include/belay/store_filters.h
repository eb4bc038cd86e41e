#pragma once
// belay/store_filters.h - what a read of a store asks for; belay/store.h says how.

#include <chrono>
#include <optional>
#include <utility>

#include "belay/limits.h"
#include "belay/queue.h"

namespace belay {

struct ThreadFilter {
  TenantId tenant;
  std::optional<ThreadId> thread = std::nullopt;
  std::optional<ThreadId> before = std::nullopt;  // only those created before it: the next page
  std::size_t limit = limits::bounded(100);       // newest first
  std::optional<UserId> user = std::nullopt;      // only this user's
};

struct RunFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<ThreadId> thread = std::nullopt;
  std::vector<RunStatus> statuses = {};  // empty: any
  // Only queued and paused runs whose due_at is set and not after this, the earliest first.
  std::optional<Instant> due_by = std::nullopt;
  std::optional<Instant> updated_before = std::nullopt;
  std::optional<RunId> before = std::nullopt;  // only those begun before this run: the next page
  std::size_t limit = limits::bounded(100);    // newest first
  std::vector<std::string> queues = {};        // empty: any
  std::vector<std::string> graphs = {};        // empty: any
  std::vector<SessionId> owners = {};          // empty: any, and nobody
  // What is not wanted, so that the next of them can be seen.
  std::vector<RunId> except_runs = {};
  std::vector<UserId> except_users = {};
  std::vector<std::string> except_keys = {};  // concurrency keys
  std::vector<std::string> except_queues = {};
  bool by_priority = false;    // with due_by: the greatest priority first, then the earliest
  bool without_input = false;  // input and options are left empty: they may be large
  std::optional<UserId> user = std::nullopt;  // only this user's
};

// What a worker may take up: see Store::claim().
struct PollFilter {
  std::optional<TenantId> tenant = std::nullopt;  // unset: every tenant
  SessionId session = {};                         // who asks
  Instant now{};
  std::vector<std::string> queues = {};  // empty: any
  std::vector<std::string> graphs = {};  // empty: any
  std::vector<RunId> except_runs = {};   // that it has already, or could not take up
  // Was offered, and is not for it: others need not wait for that offer to lapse.
  std::vector<std::pair<TenantId, RunId>> returned_candidates = {};
  ConcurrencyLimits concurrency = {};  // whose group has no place left is passed over
  std::size_t limit = 16;              // at most limits::poll_batch_max
  std::chrono::milliseconds visibility_timeout{10'000};
  // Shares of the tenants among what is offered; those that are not named have 1.
  std::vector<std::pair<TenantId, std::uint32_t>> weights = {};
  // How many runs the caller was offered so far: where its round of the tenants goes on.
  std::uint64_t round_robin_position = 0;
};

struct SessionFilter {
  std::optional<TenantId> tenant = std::nullopt;  // whose runs are counted; unset: all of them
  bool only_owners = false;                       // only those that own running runs
  std::size_t limit = limits::page_rows_max;      // newest first
};

struct CheckpointFilter {
  TenantId tenant;
  RunId run;
  std::string checkpoint_ns = {};
  std::optional<std::uint64_t> seq = std::nullopt;         // only this one
  std::optional<std::uint64_t> before_seq = std::nullopt;  // older than this
  std::size_t limit = limits::bounded(100);                // newest first
};

struct ValueFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t at_seq = 0;  // as of this state_seq
  // False: of each channel the newest `set` and what follows it, by (space, channel, seq, index).
  // True: all that were ever written, by (seq, space, channel, index).
  bool every_version = false;
  std::uint64_t after_seq = 0;                              // with every_version: only newer ones
  std::optional<std::string> checkpoint_ns = std::nullopt;  // only this space
};

struct TaskFilter {
  TenantId tenant;
  RunId run;
  std::string checkpoint_ns = {};
  std::optional<std::int64_t> superstep = std::nullopt;  // unset: all; by superstep, position
};

struct EffectFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<TaskId> task = std::nullopt;
  std::vector<EffectStatus> statuses = {};  // empty: any
  // With `run`: ordered by (task, name), only those after this key: the first page is after ({},
  // ""). Without `run`, effects are ordered by the time when they were begun.
  std::optional<std::pair<TaskId, std::string>> after = std::nullopt;
  std::size_t limit = limits::page_rows_max;
};

struct OutboxFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<Instant> due_by = std::nullopt;  // only waiting ones, due by then
  std::vector<std::string> topics = {};          // empty: all topics
  // With `due_by`: only the oldest such message of each run, in no particular order.
  bool first_of_each_run = false;
  // With `run`: ordered by (seq, index), only those after this one.
  std::optional<std::pair<std::uint64_t, std::int64_t>> after = std::nullopt;
  bool without_body = false;                  // envelopes are left empty: they might be large
  bool without_delivered = false;             // only waiting or discarded messages
  std::size_t limit = limits::page_rows_max;  // oldest first
  std::optional<UserId> user = std::nullopt;  // only those of this user's runs
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
  std::optional<Instant> expired_at = std::nullopt;  // only those whose expiry is not after this
  std::vector<std::string> graphs = {};              // empty: any
  std::optional<InterruptId> before = std::nullopt;  // only older ones: the next page
  std::size_t limit = limits::bounded(100);          // newest first
  std::optional<UserId> user = std::nullopt;         // only those of this user's runs
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
  std::string key = {};    // not empty: only this one
  std::string field = {};  // not empty: only those whose indexed field has this value
  std::string value = {};
  std::string after = {};  // not empty: only keys after this one
  std::size_t limit = limits::page_rows_max;
};

struct EnvelopeFilter {
  TenantId tenant;
  std::string other_than = {};  // only envelopes of another type than this
  std::uint64_t after = 0;      // only places after this one
  std::size_t limit = limits::page_rows_max;
  bool every_kind = false;  // not only envelopes: see StoredEnvelope
};

}  // namespace belay
