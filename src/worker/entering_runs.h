#pragma once
// worker/entering_runs.h - counts the runs that this process is enqueuing, for the limit of queued
// runs: a count that was read from the store does not include those committed since.
//
// Threading: the executor's thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "belay/ids.h"

namespace belay {

class EnteringRuns {
  struct Queue {
    std::size_t checks = 0;     // in progress
    std::size_t commits = 0;    // in progress
    std::uint64_t entered = 0;  // commits that have ended since the first check
    bool is_idle() const { return checks == 0 && commits == 0; }
  };
  using Queues = std::map<TenantId, Queue>;

  static void forget_idle(Queues& queues, Queues::iterator queue) {
    if (queue->second.is_idle()) queues.erase(queue);
  }

 public:
  // Exists from before the length of the queue is read until it is compared with the limit.
  class Check {
   public:
    Check(EnteringRuns& of, const TenantId& tenant)
        : of_(of.queues_), queue_(of_.try_emplace(tenant).first), before_(queue_->second.entered) {
      ++queue_->second.checks;
    }
    Check(const Check&) = delete;
    Check& operator=(const Check&) = delete;
    ~Check() {
      --queue_->second.checks;
      forget_idle(of_, queue_);
    }
    // The runs that the count from the store might not include: never too few. A run can be
    // counted twice for a moment.
    std::size_t others() const {
      return queue_->second.commits + static_cast<std::size_t>(queue_->second.entered - before_);
    }

   private:
    Queues& of_;
    Queues::iterator queue_;
    std::uint64_t before_;
  };

  // Exists while the commit of one run is in progress. The caller must not suspend between the
  // check and this.
  class Entry {
   public:
    Entry(EnteringRuns& of, const TenantId& tenant)
        : of_(of.queues_), queue_(of_.try_emplace(tenant).first) {
      ++queue_->second.commits;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      --queue_->second.commits;
      ++queue_->second.entered;
      forget_idle(of_, queue_);
    }

   private:
    Queues& of_;
    Queues::iterator queue_;
  };

 private:
  Queues queues_;
};

}  // namespace belay
