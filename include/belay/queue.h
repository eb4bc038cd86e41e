#pragma once
// belay/queue.h - queues of runs: how many may be at work, and what a store knows of them.
//
// Every run belongs to a queue, and may name a concurrency key; both are texts that need no
// declaration. A queue has a row only once somebody has paused or limited it. docs/queues.md.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "belay/result.h"
#include "belay/rows.h"

namespace belay {

inline constexpr std::string_view default_queue = "default";

// What the runs that are `running` are counted by, within a tenant.
enum class ConcurrencyScope { user, key, queue, tenant };
std::string_view name_of(ConcurrencyScope of);

// At most `limit` runs of the run's own group at the same time. A run without a concurrency key has
// a place in no group of keys.
struct ConcurrencyGuard {
  ConcurrencyScope scope = ConcurrencyScope::key;
  std::uint64_t limit = 0;
  friend bool operator==(const ConcurrencyGuard&, const ConcurrencyGuard&) = default;
};

// How many runs may be `running` at the same time, over all processes of a store; 0: any number.
struct ConcurrencyLimits {
  std::uint64_t per_user = 0;
  std::uint64_t per_key = 0;
  std::uint64_t per_queue = 0;
  std::uint64_t per_tenant = 0;
  bool any() const { return per_user || per_key || per_queue || per_tenant; }
  friend bool operator==(const ConcurrencyLimits&, const ConcurrencyLimits&) = default;
};

struct QueueRow {
  TenantId tenant = {};
  std::string name = {};
  bool paused = false;            // nothing is taken from it
  std::uint64_t runs_max = 0;     // in place of ConcurrencyLimits::per_queue; 0: that one
  std::uint64_t per_key_max = 0;  // in place of ConcurrencyLimits::per_key; 0: that one
  Instant updated_at{};
  friend bool operator==(const QueueRow&, const QueueRow&) = default;
};

// What waits in a queue, and what is at work.
struct QueueCount {
  std::string name = {};
  std::uint64_t queued = 0;
  std::uint64_t running = 0;
  std::uint64_t paused = 0;  // runs that wait for a person or a time
  std::uint64_t quarantined = 0;
  std::uint64_t due = 0;  // of the queued and paused ones
  Instant oldest_due{};   // since when the first of them could go on; unset: none is due
  friend bool operator==(const QueueCount&, const QueueCount&) = default;
};

struct ConcurrencyCount {
  std::string scope_key = {};  // the user, the concurrency key, the queue; empty for the tenant
  std::uint64_t running = 0;
  friend bool operator==(const ConcurrencyCount&, const ConcurrencyCount&) = default;
};

// A process that may own runs, or did. Whether it lives says Store::is_alive().
struct SessionRow {
  SessionId session;
  Instant started_at{};    // unset: not known any more
  Instant seen_at{};       // its last sign of life; unset where it lives by a lock
  std::uint64_t runs = 0;  // that are `running` in its name
  Instant oldest{};        // the least updated_at of these
  std::string name = {};  // of its process, for people; several may share it, some stores know none
  friend bool operator==(const SessionRow&, const SessionRow&) = default;
};

// The guards by which a commit that makes `run` running keeps `limits`; `row`, if not null, is its
// queue's.
std::vector<ConcurrencyGuard> concurrency_guards(const RunRow& run, const ConcurrencyLimits& limits,
                                                 const QueueRow* row);

// Options of a worker: a process that executes queued and orphaned runs.
struct WorkerOptions {
  std::optional<TenantId> tenant = default_tenant();             // unset: every tenant, in turns
  std::vector<std::pair<TenantId, std::uint32_t>> weights = {};  // see PollFilter
  std::size_t runs_max = 16;                                     // at the same time
  std::chrono::milliseconds poll_interval{200};                  // interval between polls
  std::chrono::milliseconds retry_delay_max{30'000};  // maximum delay before a run is tried again
  bool until_idle = false;                            // end also once no run can be claimed
  std::vector<std::string> queues = {};               // only runs of these; empty: of any
  std::function<void(const Error&)> on_error = nullptr;  // errors of the store or a run; it retries
};

}  // namespace belay
