#pragma once
// tests/cron/tick_oracle.h - the ticks of a random expression, found by watching a zone's clock
// from step to step.

#include <chrono>
#include <vector>

#include "cron/zone.h"
#include "tests/cron/random_expression.h"

namespace belay::cron {

// Returns the ticks from `from` to `until`, both included. Looks at each second, or at each minute
// if the expression has no field for seconds. REQUIRES: the zone's offsets are whole minutes then,
// and `from` is a whole minute.
std::vector<sys_seconds> watched_ticks(const RandomExpression& expression, const Zone& zone,
                                       sys_seconds from, sys_seconds until);

}  // namespace belay::cron
