#pragma once
// store/postgres/server_clock.h - the time of the server, as well as this machine's clock and the
// replies of the server tell it.
//
// What one process writes as due, others find by their own clocks. On several machines those
// disagree; so all of them go by the one of the server that they share.
//
// Threading: any.

#include <atomic>

#include "belay/clock.h"

namespace belay::postgres {

class ServerClock final : public Clock {
 public:
  // `own` is this machine's, and outlives it.
  explicit ServerClock(Clock& own) : own_(own) {}

  Instant now() override;
  Instant own_now() { return own_.now(); }

  // The server said `said` after it was asked at `before`, and before its reply was there at
  // `after`, both by the machine's own clock. What is known stays as it is as far as that can be
  // true, so that neither a slow reply nor its way moves the clock.
  void learn(Instant before, Instant said, Instant after);

 private:
  Clock& own_;
  std::atomic<std::int64_t> ahead_{0};  // the server's clock of ours, in microseconds
};

}  // namespace belay::postgres
