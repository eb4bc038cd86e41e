#pragma once
// langgraph/cron_time.h - times in the bodies of crons.
//
// Threading: any thread.

#include <string>
#include <string_view>

#include "belay/clock.h"
#include "belay/result.h"

namespace belay::langgraph {

// Returns the instant of a text (base/rfc3339.h). A text without an offset, as Python writes it, is
// a local time of `zone`: the first of two instants if the time is repeated, and the end of the gap
// if it is skipped. `invalid`, naming the member, for any other text; the errors of
// cron::ZoneDatabase for the zone.
Result<Instant> time_in(std::string_view member, std::string_view text, const std::string& zone);

}  // namespace belay::langgraph
