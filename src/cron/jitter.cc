#include "cron/jitter.h"

#include <cstdint>
#include <string>

#include "belay/ids.h"

namespace belay::cron {

std::chrono::microseconds jitter(std::string_view schedule_id, Instant tick,
                                 std::chrono::microseconds max) {
  if (max.count() <= 0) return std::chrono::microseconds(0);
  // The id is last: no other pair of a tick and an id has the same text.
  Digest digest =
      sha256(std::to_string(tick.time_since_epoch().count()) + " " + std::string(schedule_id));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
  // Even enough: for a maximum of a year, the delays differ in probability by a millionth.
  return std::chrono::microseconds(number % static_cast<std::uint64_t>(max.count()));
}

}  // namespace belay::cron
