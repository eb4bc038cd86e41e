#pragma once
// store/postgres/server_clock.h - estimates the server's time from this machine's clock and the
// times in the server's replies.
//
// One process stores when a run is due; other processes compare that time with their clocks. Clocks
// of several machines differ; therefore all processes use the clock of their common server.
//
// Threading: any.

#include <atomic>

#include "belay/clock.h"

namespace belay::postgres {

class ServerClock final : public Clock {
 public:
  // `own` is this machine's clock, and outlives the object.
  explicit ServerClock(Clock& own) : own_(own) {}

  Instant now() override;
  Instant own_now() { return own_.now(); }

  // Updates the estimate: the server reported `said` after the request was sent at `before` and
  // before the reply arrived at `after`, both by this machine's clock. The estimate changes only if
  // these bounds exclude it, so that slow replies do not move the clock.
  void learn(Instant before, Instant said, Instant after);

 private:
  Clock& own_;
  std::atomic<std::int64_t> ahead_{0};  // offset of the server's clock from ours, in microseconds
};

}  // namespace belay::postgres
