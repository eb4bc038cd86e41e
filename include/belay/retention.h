#pragma once
// belay/retention.h - how long threads are kept once they have ended.
//
// A thread has ended when none of its runs goes on or waits; what waits for a person, a timer or a
// session is kept for as long as it waits. A thread that is preserved (CommitRows::preserve) is
// kept, and so is one with messages that are still to be delivered. What an agent has saved as
// records is the agent's, and stays.

#include "belay/store.h"

namespace belay {

struct RetentionPolicy {
  std::chrono::hours keep_finished{24 * 30};  // since a thread's last commit
  bool dry_run = false;                       // only say what would be forgotten
};

struct RetentionReport {
  std::uint64_t threads = 0;    // forgotten
  std::uint64_t runs = 0;       // forgotten
  std::uint64_t preserved = 0;  // threads that would be forgotten, were they not preserved
};

// Forgets what the policy does not keep, in commits of some 1,000 rows each. Stopped half-way, it
// has forgotten some runs whole and of one perhaps its oldest commits; calling it again goes on.
// `store` outlives the task.
Task<Result<RetentionReport>> apply_retention(Store& store, TenantId tenant, RetentionPolicy policy,
                                              Instant now);

}  // namespace belay
