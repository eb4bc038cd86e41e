#include "store/postgres/server_clock.h"

#include <algorithm>

namespace belay::postgres {

Instant ServerClock::now() { return own_.now() + std::chrono::microseconds(ahead_.load()); }

void ServerClock::learn(Instant before, Instant said, Instant after) {
  // The clock was set back between the two readings: they give no bounds.
  if (after < before) return;
  std::int64_t least = std::chrono::microseconds(said - after).count();
  std::int64_t most = std::chrono::microseconds(said - before).count();
  ahead_.store(std::clamp(ahead_.load(), least, most));
}

}  // namespace belay::postgres
