#pragma once
// driver/run_hold.h - names what holds a run back that waits in a queue.

#include <map>
#include <string>
#include <vector>

#include "belay/store.h"

namespace belay {

// What one view of a store shows of a tenant's queues and of the runs at work.
class RunHolds {
 public:
  // `limits`: those of the process that is to have the runs go on.
  static Result<RunHolds> read(Snapshot& view, const TenantId& tenant, const PlaceLimits& limits,
                               Instant now);

  // Of a queued run: "due at 2026-11-21T12:00:00Z", "queue \"mails\" paused", "user limit 5",
  // "concurrency key limit 1", "queue limit 4", "tenant limit 9". Empty when nothing does: it is
  // taken up by the next worker that has room.
  std::string of(const RunRow& run) const;
  // The first of the guards, each of the run's own group, that leaves it no place; empty: none.
  std::string full_place(const RunRow& run, const std::vector<PlaceGuard>& guards) const;

 private:
  PlaceLimits limits_;
  Instant now_{};
  std::map<std::string, QueueRow> queues_;
  std::map<std::pair<PlaceOf, std::string>, std::uint64_t> running_;
};

}  // namespace belay
