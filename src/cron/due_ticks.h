#pragma once
// cron/due_ticks.h - decides which ticks of a schedule fire now, and which ones were missed.
//
// A scheduler stores the last tick that it has decided on. Whenever it looks, due_ticks() returns
// the ticks since then: those within the catch-up window fire, older ones are missed. Each tick is
// decided once, also if the clock jumps: a clock that is set back returns to decided ticks,
// and one that is set forward by years yields a count, not a list.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "belay/clock.h"
#include "cron/schedule.h"

namespace belay::cron {

// A shorter catch-up window counts as this one: a scheduler that looks a moment after a tick would
// otherwise miss every tick.
inline constexpr std::chrono::seconds catch_up_min{10};
inline constexpr std::size_t due_ticks_max = 1'000;

struct DueOptions {
  std::chrono::microseconds catch_up = std::chrono::minutes(1);
  std::size_t limit = 100;  // of ticks to fire at a time, 1 to due_ticks_max
};

// The missed ticks are all of the schedule's ticks from `first` to `last`.
struct MissedTicks {
  std::int64_t count = 0;
  Instant first{};
  Instant last{};
  friend bool operator==(const MissedTicks&, const MissedTicks&) = default;
};

struct DueTicks {
  std::optional<MissedTicks> missed;  // before those that fire
  std::vector<Instant> fire;          // in ascending order
  // The last decided tick, for the next call; the given one if there is no new tick.
  Instant decided{};
  // The first tick after `decided`: the time to look again. It has passed if `limit` was
  // reached. Unset if there is no tick.
  std::optional<Instant> next;
  friend bool operator==(const DueTicks&, const DueTicks&) = default;
};

// Returns the ticks after `decided` up to and including `now`, and none if `now` is not after
// `decided`. For a new or resumed schedule, `decided` is the time of its creation or resumption.
DueTicks due_ticks(const Schedule& schedule, Instant decided, Instant now,
                   const DueOptions& options = {});

}  // namespace belay::cron
