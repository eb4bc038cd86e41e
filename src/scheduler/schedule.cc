#include "belay/schedule.h"

#include <array>

namespace belay {
namespace {

constexpr std::array<std::string_view, 4> kOverlaps = {"skip", "buffer_one", "allow",
                                                       "cancel_other"};

}  // namespace

std::string_view name_of(Overlap overlap) { return kOverlaps[static_cast<std::size_t>(overlap)]; }

std::optional<Overlap> overlap_named(std::string_view name) {
  for (std::size_t i = 0; i < kOverlaps.size(); ++i) {
    if (kOverlaps[i] == name) return static_cast<Overlap>(i);
  }
  return std::nullopt;
}

std::string ScheduleTick::key() const {
  // A backfill of a missed tick adds an entry: that of the decision might be of many ticks.
  return schedule + "-" + std::to_string(at.time_since_epoch().count()) + (by_hand ? "-hand" : "");
}

}  // namespace belay
