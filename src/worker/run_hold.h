#pragma once
// worker/run_hold.h - names the reason why a queued run does not start.

#include <map>
#include <string>
#include <vector>

#include "belay/store.h"

namespace belay {

// A tenant's queues and counts of running runs, read from one snapshot.
class RunHolds {
 public:
  // `limits`: those of the process that would execute the runs.
  static Result<RunHolds> read(Snapshot& view, const TenantId& tenant,
                               const ConcurrencyLimits& limits, Instant now);

  // Returns "due at TIME" for a queued run that is due later, else nothing; needs no store.
  static std::string time_of(const RunRow& run, Instant now);

  // Returns why a queued run waits: "due at 2026-11-21T12:00:00Z", "queue \"mails\" paused", "user
  // limit 5", "concurrency key limit 1", "queue limit 4", "tenant limit 9". Empty if nothing holds
  // it back: the next worker with a free slot claims it.
  std::string of(const RunRow& run) const;
  // Returns the first guard, for the run's own scopes, whose limit is reached; empty: none.
  std::string full_place(const RunRow& run, const std::vector<ConcurrencyGuard>& guards) const;

  // A limit that is reached: its value, and the running runs in its scope.
  struct FullLimit {
    ConcurrencyScope scope = ConcurrencyScope::user;
    std::uint64_t limit = 0;
    std::uint64_t running = 0;
  };
  // All limits that hold the run back.
  std::vector<FullLimit> full_limits(const RunRow& run) const;
  bool is_paused(const std::string& queue) const;

 private:
  const QueueRow* queue_row(const std::string& name) const;
  std::uint64_t running_in(const RunRow& run, ConcurrencyScope scope) const;

  ConcurrencyLimits limits_;
  Instant now_{};
  std::map<std::string, QueueRow> queues_;
  std::map<std::pair<ConcurrencyScope, std::string>, std::uint64_t> running_;
};

}  // namespace belay
