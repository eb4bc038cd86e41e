#pragma once
// service/queue_clearing.h - cancels the queued runs of a queue that no process has claimed.
//
// A run that is started meanwhile is not cancelled, unless it was on the page that is being read; a
// run on that page that is claimed meanwhile is cancelled, too. Repeated, it cancels the rest.

#include <string>

#include "belay/service.h"

namespace belay {

struct QueueClearing {
  std::string queue;
  std::string by;        // recorded with the cancelled runs
  bool dry_run = false;  // only counts
};
struct ClearedQueue {
  std::int64_t queued = 0;     // runs that no process had claimed
  std::int64_t cancelled = 0;  // by this call
};

// Among the runs that the principal can read. Both references must outlive the task.
Task<Result<ClearedQueue>> clear_queue(Service& service, const Principal& who,
                                       QueueClearing clearing);

Value cleared_queue_document(const QueueClearing& clearing, const ClearedQueue& cleared);

}  // namespace belay
