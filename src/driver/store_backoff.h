#pragma once
// driver/store_backoff.h - runs that work() has given up since the store failed them, and how long
// they rest: for a second first, longer each time that the store fails again, and no longer once it
// answers. They rest together, so that a store that comes back is asked for all of them at once.

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

  // A run was given up; `longest` bounds its rest.
  void add(const RunId& run, Instant now, milliseconds longest) {
    // Of those that fail together the first one says how long it is.
    if (now >= until_) {
      length_ = std::min(std::max(2 * length_, first), longest);
      until_ = now + length_;
    }
    runs_.insert(run);
  }
  // A run came as far as it could: commits are answered. One that the store fails all the same is
  // not to be tried each time that another succeeds.
  void commits_answered(Instant now) {
    length_ = milliseconds(0);
    until_ = std::min(until_, now + first);
  }
  // A look for work has succeeded or not. True when the store answers again, and runs rest no more.
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
  bool is_away_ = false;  // the last look failed
};

}  // namespace belay
