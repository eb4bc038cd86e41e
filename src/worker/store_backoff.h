#pragma once
// worker/store_backoff.h - the backoff of runs that a worker gave up because the store failed.
//
// The backoff is 1 s at first and doubles each time the store fails again. It ends early if a poll
// succeeds after one that failed. All such runs share one backoff, so that they are all tried again
// as soon as the store is available.

#include <algorithm>
#include <set>
#include <utility>

#include "belay/clock.h"
#include "belay/ids.h"

namespace belay {

class StoreBackoff {
 public:
  using milliseconds = std::chrono::milliseconds;

  static constexpr milliseconds first{1'000};

  // A run was given up. `longest`: maximum backoff.
  void add(const RunId& run, Instant now, milliseconds longest) {
    // Runs that fail together share one backoff: the first of them determines its length.
    if (now >= until_) {
      length_ = std::min(std::max(2 * length_, first), longest);
      until_ = now + length_;
    }
    runs_.insert(run);
  }
  // A run was executed without a failure of the store: commits succeed. The backoff of other runs
  // is shortened, but not ended: a run for which the store still fails must not be tried again each
  // time another one succeeds.
  void commits_answered(Instant now) {
    length_ = milliseconds(0);
    until_ = std::min(until_, now + first);
  }
  // A poll has succeeded or failed. Returns true if the store is available again and the backoff
  // has ended.
  bool looked(bool succeeded) {
    bool was_away = std::exchange(is_away_, !succeeded);
    if (!succeeded || !was_away || runs_.empty()) return false;
    runs_.clear();
    return true;
  }
  const std::set<RunId>& resting(Instant now) {
    if (now >= until_) runs_.clear();
    return runs_;
  }

 private:
  std::set<RunId> runs_;
  Instant until_{};
  milliseconds length_{0};
  bool is_away_ = false;  // the last poll failed
};

}  // namespace belay
