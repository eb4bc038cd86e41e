#pragma once
// cron/jitter.h - a delay of a tick, so that many schedules of one time do not start together.

#include <chrono>
#include <string_view>

#include "belay/clock.h"

namespace belay::cron {

// Returns a delay from 0 to before `max`; 0 if `max` is not positive. It depends only on the
// arguments: it is the same in each process, after each restart and in each version of Belay. The
// delays of different schedules, and of one schedule's ticks, are spread evenly.
std::chrono::microseconds jitter(std::string_view schedule_id, Instant tick,
                                 std::chrono::microseconds max);

}  // namespace belay::cron
