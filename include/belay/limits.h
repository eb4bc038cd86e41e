#pragma once
// belay/limits.h - every bound in the system, named, with its unit; and what a program may set to
// keep a run from costing too much, and a slow or broken other side from taking everything down.
//
// Input beyond a fixed bound is refused with `invalid` and a message that names the bound; nothing
// is cut silently.
//
// Budgets, circuit breakers, slots and bounded queues are off until they are asked for;
// docs/protection.md tells how they work together. Refusals are errors: `exhausted` for a budget
// that is spent (never tried again), `unavailable` with a retry_after for what is busy or broken
// now (a retry policy obeys it; over HTTP that is a 429 or 503).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "belay/result.h"

namespace belay::limits {

using std::chrono::hours;
using std::chrono::milliseconds;

inline constexpr std::size_t json_depth_max = 64;             // nested arrays and objects
inline constexpr std::size_t document_depth_max = 72;         // Belay's documents with such values
inline constexpr std::size_t value_bytes_max = 64u << 20;     // one channel's JSON text
inline constexpr std::size_t record_bytes_max = 1u << 20;     // one record's JSON text
inline constexpr std::size_t identifier_bytes_max = 200;      // thread, user, record key
inline constexpr std::size_t comment_bytes_max = 10'000;      // a decision's comment
inline constexpr std::size_t state_members_max = 32;          // members of a state type
inline constexpr std::size_t json_channels_max = 1'000;       // channels of a JSON graph
inline constexpr std::size_t graph_nodes_max = 1'000;         // nodes of one graph
inline constexpr std::size_t supersteps_max = 10'000;         // of one run: stops runaway cycles
inline constexpr std::size_t superstep_tasks_max = 100'000;   // of one superstep
inline constexpr std::size_t parallel_tasks_default = 128;    // running at the same time
inline constexpr std::size_t list_rows_max = 1'000;           // rows of a list for display
inline constexpr std::size_t commit_queue_max = 4'096;        // commits waiting for the writer
inline constexpr std::size_t blocking_threads_max = 4;        // threads of the blocking pool
inline constexpr std::size_t blocking_queue_max = 1'024;      // calls waiting for that pool
inline constexpr std::int64_t output_tokens_default = 4'096;  // of a call on a budget
inline constexpr milliseconds busy_retry_after{1'000};        // delay suggested by a limit
inline constexpr std::int64_t lost_claims_max = 5;            // above this, a run is quarantined
inline constexpr milliseconds owner_watch_interval{500};      // how often a run checks its owner
inline constexpr milliseconds lease_poll_interval{100};       // how often a call checks the lease
inline constexpr hours approval_expiry_default{24};
inline constexpr hours thread_idle_max{24 * 7};  // then it can't be resumed
inline constexpr int run_attempts_max = 20;      // RunSettings::max_retries
inline constexpr hours run_timeout_max{24 * 365};
inline constexpr hours approval_expiry_max{24 * 30};
inline constexpr std::int64_t budget_max = 1'000'000'000'000'000;  // tokens; millionths of money

#ifdef BELAY_SMALL_LIMITS
inline constexpr bool are_small = true;
#else
inline constexpr bool are_small = false;
#endif
// Bound of a page, a batch or a cache: no result may depend on it. A build with BELAY_SMALL_LIMITS
// sets each of them to 2 or 3, so that the tests exceed every bound.
constexpr std::size_t bounded(std::size_t usual, std::size_t small = 3) {
  return are_small ? small : usual;
}

inline constexpr std::size_t page_rows_max = bounded(1'000);     // rows of one read
inline constexpr std::size_t commit_batch_max = bounded(1'024);  // commits of a transaction
inline constexpr std::size_t commit_batch_bytes_max = bounded(1u << 20, 2'000);  // its bytes
inline constexpr std::size_t deliveries_max = bounded(16, 2);  // messages at the same time
inline constexpr std::size_t poll_batch_max = bounded(100);    // runs returned by one poll

}  // namespace belay::limits

namespace belay {

// What something costs. Money is counted in millionths of whatever unit the prices are in.
struct Cost {
  std::int64_t tokens = 0;
  std::int64_t money = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};
Cost operator+(const Cost& a, const Cost& b);
Cost operator-(const Cost& a, const Cost& b);

// What a run may cost at most (RunOptions::budget). Before a call its greatest possible cost is
// reserved, durably; after it, what it really cost takes that place. All branches of a run share
// its budget; a fork has one of its own and begins with nothing spent.
struct Budget {
  std::optional<std::int64_t> tokens = std::nullopt;
  std::optional<std::int64_t> money = std::nullopt;
  bool is_set() const { return tokens || money; }
  friend bool operator==(const Budget&, const Budget&) = default;
};

// What a run with a budget has cost so far.
struct Spending {
  Cost spent;
  // Of calls under way, and of those whose process died before their cost was known: it counts.
  Cost reserved;
  friend bool operator==(const Spending&, const Spending&) = default;
};

// When the next step may start. `sync`: after the previous commit is durable. `async`: while that
// commit is being written. `exit`: immediately, with one commit at the end. All three commit and
// await pauses, failures and ends. A crash repeats the steps that `async` and `exit` have not
// committed. Graphs with subgraphs and supersteps of several nodes treat `exit` as `sync`.
enum class Durability { sync, async, exit };

// How to execute a run. Stored with the run, so that a takeover uses the same options.
struct RunOptions {
  // Attempts of a node that has a retry policy, instead of the policy's own number.
  std::optional<int> max_retries = std::nullopt;
  // False: approval nodes pass as if they were approved.
  bool require_approval = true;
  // Maximum working time of the run, including retry delays, excluding waits for people.
  std::chrono::milliseconds timeout{300'000};
  // Time for which an approval stays open, instead of the approval's own time.
  std::optional<std::chrono::milliseconds> approval_expires = std::nullopt;
  Durability durability = Durability::sync;
  // Maximum number of supersteps of the run: ends a cycle without an exit.
  std::int64_t supersteps = limits::supersteps_max;
  // Maximum number of nodes of one superstep that run at the same time.
  std::int64_t parallel = limits::parallel_tasks_default;
  // Maximum cost of the run; unset: no cost is counted.
  Budget budget = {};
  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

// Options that a start sets for its run. An unset member has the value of
// RuntimeParts::run_defaults, else that of RunOptions.
struct RunSettings {
  std::optional<int> max_retries = std::nullopt;
  std::optional<bool> require_approval = std::nullopt;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  std::optional<std::chrono::milliseconds> approval_expires = std::nullopt;
  std::optional<Durability> durability = std::nullopt;
  std::optional<std::int64_t> supersteps = std::nullopt;
  std::optional<std::int64_t> parallel = std::nullopt;
  Budget budget = {};

  RunSettings() = default;
  RunSettings(const RunOptions& options);  // implicit: sets every member
  // Returns these settings; a member that is unset here has the value of `defaults`.
  RunSettings over(const RunSettings& defaults) const;
  // Returns the run's options. `invalid`, naming the bound, if a value exceeds limits.h.
  Result<RunOptions> options() const;
};

// How the runtime treats something that nodes depend on: a mail server, an API, the model.
struct DependencyOptions {
  // Uses of it at the same time; 0: any number. More wait, in the order in which they came.
  std::size_t concurrency_max = 0;
  // Uses that may wait; more are refused.
  std::size_t queue_max = 1'000;
  // Failures in a row (code `unavailable`, time-outs) that open its circuit; 0: never.
  int failure_threshold = 5;
  // How long nothing is sent to it then.
  std::chrono::milliseconds open_duration{30'000};
  // After that: uses at the same time that try it out. As many successes close the circuit, one
  // failure opens it again; others wait meanwhile.
  int half_open_max = 1;
};

// What one runtime works on at the same time, and what it lets wait in the store; 0: any number.
struct ProcessLimits {
  std::size_t per_tenant = 0;
  std::size_t per_user = 0;
  std::size_t per_graph = 0;  // of one tenant
  // Runs of a tenant in the store's queue.
  std::size_t queued = 0;
};

}  // namespace belay
