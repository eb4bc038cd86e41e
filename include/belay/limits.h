#pragma once
// belay/limits.h - the fixed limits with their units, and the options of runs, budgets,
// dependencies and processes.
//
// Input above a fixed limit is rejected with `invalid` and a message that names the limit; no input
// is truncated silently.
//
// Budgets, circuit breakers, slots and process limits are off unless they are configured;
// docs/protection.md describes how they work together. A spent budget is `exhausted` (never
// retried); a busy or failing dependency and a reached process limit are `unavailable` with a
// retry_after (a retry policy waits for it; over HTTP it is a 429 or 503).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::limits {

using std::chrono::hours;
using std::chrono::milliseconds;

inline constexpr std::size_t json_depth_max = 64;          // nested arrays and objects
inline constexpr std::size_t document_depth_max = 72;      // Belay's documents with such values
inline constexpr std::size_t value_bytes_max = 64u << 20;  // one channel's JSON text
inline constexpr std::size_t record_bytes_max = 1u << 20;  // one record's JSON text
inline constexpr std::size_t configuration_bytes_max = 64u << 10;  // RunOptions::configuration
inline constexpr std::size_t sort_value_bytes_max = 1'024;         // a value of an ordered index
inline constexpr std::size_t identifier_bytes_max = 200;           // thread, user, record key
inline constexpr std::size_t thread_title_bytes_max = 1'000;
inline constexpr std::size_t thread_metadata_bytes_max = 64u << 10;  // JSON text
inline constexpr std::size_t comment_bytes_max = 10'000;             // a decision's comment
inline constexpr std::size_t state_members_max = 32;                 // members of a state type
inline constexpr std::size_t json_channels_max = 1'000;              // channels of a JSON graph
inline constexpr std::size_t graph_nodes_max = 1'000;                // nodes of one graph
inline constexpr std::size_t supersteps_max = 10'000;        // of one run: stops endless cycles
inline constexpr std::size_t superstep_tasks_max = 100'000;  // of one superstep
inline constexpr std::size_t parallel_tasks_default = 128;   // running at the same time
inline constexpr std::size_t list_rows_max = 1'000;          // rows of a list for display
inline constexpr std::size_t commit_queue_max = 4'096;       // commits waiting for the writer
inline constexpr std::size_t blocking_threads_max = 256;     // threads of the blocking pool
inline constexpr std::size_t blocking_threads_default = 4;
inline constexpr std::size_t blocking_queue_max = 1'024;      // calls waiting for that pool
inline constexpr std::int64_t output_tokens_default = 4'096;  // of a model call with a budget
inline constexpr milliseconds busy_retry_after{1'000};        // retry_after of a reached limit
inline constexpr std::int64_t lost_claims_max = 5;            // above this, a run is quarantined
inline constexpr int record_conflicts_max = 10;               // in a row, then a run fails
inline constexpr milliseconds owner_watch_interval{500};      // how often a run checks its owner
inline constexpr milliseconds lease_poll_interval{100};       // how often a call checks the lease
inline constexpr hours approval_expiry_default{24};
inline constexpr hours steering_kept{24 * 90};                // a steering message, used or not
inline constexpr std::size_t steering_bytes_max = 64u << 10;  // its text
inline constexpr std::size_t steering_waiting_max = 100;      // of one run

inline constexpr hours schedule_ticks_kept{24 * 90};      // a decided tick of a schedule
inline constexpr std::size_t backfill_ticks_max = 1'000;  // of one backfill
inline constexpr std::size_t shown_ticks_max = 100;       // the next ticks of a schedule
inline constexpr hours thread_idle_max{24 * 7};           // then a waiting thread cannot be resumed
inline constexpr int run_attempts_max = 20;               // RunSettings::max_retries
inline constexpr std::int64_t breakpoints_max = 1'000;    // names in each list of Breakpoints
inline constexpr hours run_timeout_max{24 * 365};
inline constexpr hours approval_expiry_max{24 * 30};
inline constexpr std::int64_t budget_max = 1'000'000'000'000'000;  // tokens; millionths of money

#ifdef BELAY_SMALL_LIMITS
inline constexpr bool are_small = true;
#else
inline constexpr bool are_small = false;
#endif
// Bound of a page, a batch or a cache: no result depends on it. A build with BELAY_SMALL_LIMITS
// sets most of them to 2 or 3, so that the tests exceed every bound.
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

// A cost. Money is counted in millionths of the unit of the prices.
struct Cost {
  std::int64_t tokens = 0;
  std::int64_t money = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};
Cost operator+(const Cost& a, const Cost& b);
Cost operator-(const Cost& a, const Cost& b);

// The maximum cost of a run (RunOptions::budget). Before a call, its maximum cost is reserved,
// durably; after the call, its real cost replaces the reservation. All parallel tasks of a run
// share its budget; a fork has its own budget, with nothing spent.
struct Budget {
  std::optional<std::int64_t> tokens = std::nullopt;
  std::optional<std::int64_t> money = std::nullopt;
  bool is_set() const { return tokens || money; }
  friend bool operator==(const Budget&, const Budget&) = default;
};

// The cost of a run with a budget so far.
struct Spending {
  Cost spent;
  // For calls in progress, and for calls whose process died before their cost was known. It counts
  // against the budget.
  Cost reserved;
  friend bool operator==(const Spending&, const Spending&) = default;
};

// When the next superstep can start. `sync`: after the previous commit is durable. `async`: while
// that commit is being written. `exit`: immediately, with one commit at the end. All three commit
// and await pauses, failures and ends. After a crash, the supersteps that `async` and `exit` had
// not committed are executed again. Graphs with subgraphs and supersteps of several nodes treat
// `exit` as `sync`.
enum class Durability { sync, async, exit };

// Nodes before or after whose supersteps a run pauses until resume(); "*": every node of its graph.
struct Breakpoints {
  std::vector<std::string> before = {};
  std::vector<std::string> after = {};
  friend bool operator==(const Breakpoints&, const Breakpoints&) = default;
};

// A node to begin with; `input`: JSON text of a send's input, empty for none.
struct FirstNode {
  std::string node = {};
  std::string input = {};
  std::string decisions = {};  // JSON text of those that led to it; set by Belay
  friend bool operator==(const FirstNode&, const FirstNode&) = default;
};

// A commit of a run, by the id of the run.
struct RunCommit {
  std::string run = {};
  std::int64_t seq = 0;
  friend bool operator==(const RunCommit&, const RunCommit&) = default;
};

// Where a run begins that starts with a change of its thread's state (StartOptions::edit).
struct RunBeginning {
  // With the nodes after this one ("start": the first ones; "end", empty: none), and with `nodes`.
  std::string as_node = {};
  std::vector<FirstNode> nodes = {};
  bool held = false;  // it pauses before them, as at a breakpoint, unless all are approvals
  std::optional<RunCommit> from = std::nullopt;  // with the state after it; unset: the newest
  friend bool operator==(const RunBeginning&, const RunBeginning&) = default;
};

// How to execute a run. Stored with the run, so that a takeover uses the same options.
struct RunOptions {
  // Attempts of a node that has a retry policy, instead of the policy's own number.
  std::optional<int> max_retries = std::nullopt;
  // False: approval nodes pass as if they were approved.
  bool require_approval = true;
  // Maximum working time of the run, including retry delays, excluding waits for approvals.
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
  Breakpoints breakpoints = {};                          // in addition to those of the graph
  std::optional<RunBeginning> beginning = std::nullopt;  // unset: the start of the graph
  // The JSON text of an object for the nodes (Context::configuration()); empty: none.
  std::string configuration = {};
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
  std::optional<Breakpoints> breakpoints = std::nullopt;
  std::string configuration = {};

  RunSettings() = default;
  RunSettings(const RunOptions& options);  // implicit: sets every member
  // Returns these settings; a member that is unset here has the value of `defaults`.
  RunSettings over(const RunSettings& defaults) const;
  // Returns the run's options. `invalid`, naming the bound, if a value exceeds limits.h.
  Result<RunOptions> options() const;
};

// Protection of a dependency of nodes: a mail server, an API, the model.
struct DependencyOptions {
  // Maximum number of concurrent uses (slots); 0: no limit. Further uses wait, in order of arrival.
  std::size_t concurrency_max = 0;
  // Maximum number of waiting uses; further ones fail with `unavailable`.
  std::size_t queue_max = 1'000;
  // Consecutive failures (code `unavailable`, timeouts) that open the circuit breaker; 0: never.
  int failure_threshold = 5;
  // Time for which all uses fail while the circuit is open.
  std::chrono::milliseconds open_duration{30'000};
  // Number of concurrent trial uses after that, while the circuit is half-open. As many successes
  // close the circuit, one failure opens it again; other uses wait meanwhile.
  int half_open_max = 1;
};

// Maximum numbers of runs that one runtime executes at the same time; 0: no limit.
struct ProcessLimits {
  std::size_t per_tenant = 0;
  std::size_t per_user = 0;
  std::size_t per_graph = 0;  // of one tenant
  // Maximum number of queued runs of a tenant in the store.
  std::size_t queued = 0;
};

}  // namespace belay
