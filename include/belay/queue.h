#pragma once
// belay/queue.h - queues of runs, concurrency limits, sessions and the options of workers.
//
// Every run belongs to a queue and can have a concurrency key; both are names that need no
// declaration. A queue has a row only after it was paused or limited. See docs/queues.md.

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

// The property by which running runs are counted, within a tenant.
enum class ConcurrencyScope { user, key, queue, tenant };
std::string_view name_of(ConcurrencyScope of);

// Limits the running runs that have the same user, concurrency key, queue or tenant as the run.
// Runs without a concurrency key are not counted in scope `key`.
struct ConcurrencyGuard {
  ConcurrencyScope scope = ConcurrencyScope::key;
  std::uint64_t limit = 0;
  friend bool operator==(const ConcurrencyGuard&, const ConcurrencyGuard&) = default;
};

// Maximum numbers of running runs, over all processes of a store; 0: no limit.
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
  bool paused = false;            // workers do not claim its runs
  std::uint64_t runs_max = 0;     // replaces ConcurrencyLimits::per_queue unless 0
  std::uint64_t per_key_max = 0;  // replaces ConcurrencyLimits::per_key unless 0
  Instant updated_at{};
  friend bool operator==(const QueueRow&, const QueueRow&) = default;
};

// Numbers of a queue's runs by status.
struct QueueCount {
  std::string name = {};
  std::uint64_t queued = 0;
  std::uint64_t running = 0;
  std::uint64_t paused = 0;  // runs that wait for an approval, a timer or at a breakpoint
  std::uint64_t quarantined = 0;
  std::uint64_t due = 0;  // of the queued and paused runs
  Instant oldest_due{};   // the earliest due time of these; unset: no run is due
  friend bool operator==(const QueueCount&, const QueueCount&) = default;
};

struct ConcurrencyCount {
  std::string scope_key = {};  // the user, concurrency key or queue; empty for the tenant
  std::uint64_t running = 0;
  friend bool operator==(const ConcurrencyCount&, const ConcurrencyCount&) = default;
};

// A session. Store::is_alive() returns whether it is alive.
struct SessionRow {
  SessionId session;
  Instant started_at{};    // unset: no longer known
  Instant seen_at{};       // its last heartbeat; unset if the store uses locks, not leases
  std::uint64_t runs = 0;  // running runs that it owns
  Instant oldest{};        // the earliest updated_at of these
  std::string name = {};   // of its process, for display; not unique; empty: unknown
  friend bool operator==(const SessionRow&, const SessionRow&) = default;
};

// Returns the guards with which a commit that makes `run` running observes `limits`. `row`: the row
// of the run's queue, or null.
std::vector<ConcurrencyGuard> concurrency_guards(const RunRow& run, const ConcurrencyLimits& limits,
                                                 const QueueRow* row);

// The result of one call of Runtime::process_due().
struct DueReport {
  std::size_t expired_approvals = 0;
  std::size_t continued_runs = 0;  // paused runs whose timer was due
  std::size_t total() const { return expired_approvals + continued_runs; }
  friend bool operator==(const DueReport&, const DueReport&) = default;
};

// Options of a worker: a process that executes queued and orphaned runs.
struct WorkerOptions {
  std::optional<TenantId> tenant = default_tenant();             // unset: all tenants, in turn
  std::vector<std::pair<TenantId, std::uint32_t>> weights = {};  // see PollFilter
  std::size_t runs_max = 16;                                     // concurrent runs
  std::chrono::milliseconds poll_interval{200};                  // interval between polls
  std::chrono::milliseconds retry_delay_max{30'000};  // maximum delay before a run is tried again
  bool until_idle = false;               // return when no run is claimable and none is in progress
  std::vector<std::string> queues = {};  // empty: all queues
  std::function<void(const Error&)> on_error = nullptr;  // errors of the store or a run; it retries
};

}  // namespace belay
