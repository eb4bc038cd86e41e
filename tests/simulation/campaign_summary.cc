// The summary of many seeds.

#include <cmath>

#include "tests/simulation/simulation.h"

namespace belay::simulation {

void Tally::add(const Played& played) {
  ++seeds;
  if (!played.troubles.empty()) ++failed;
  events += played.events;
  faults += played.faults;
  simulated += played.simulated;
  coverage.add(played.coverage);
}

std::string Tally::text(std::chrono::duration<double> time) const {
  auto hours = std::chrono::duration_cast<std::chrono::hours>(simulated).count();
  auto speed = std::llround(static_cast<double>(events) / time.count());
  return std::to_string(seeds) + " seeds, " + std::to_string(failed) + " failed; " +
         std::to_string(events) + " events, " + std::to_string(faults) + " faults, " +
         std::to_string(hours) + " simulated hours, " + std::to_string(speed) + " events/s";
}

}  // namespace belay::simulation
