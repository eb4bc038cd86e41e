#pragma once
// cli/schedule_text.h - the lines of `belay schedules`, and the times that its options accept.

#include <string>
#include <string_view>

#include "cli/command_context.h"

namespace belay::cli {

// The time in the zone of the settings, and in that of the schedule if it is another one:
// "2026-11-22 15:03 Europe/Madrid (23:03 Asia/Tokyo)". Seconds only if they are not 0.
std::string tick_time_text(const CommandContext& world, const std::string& zone, Instant at);

// One line of a list.
std::string schedule_line(const CommandContext& world, const ScheduleView& view,
                          std::size_t name_width);
// One decided tick, or several with the same decision.
std::string tick_line(const CommandContext& world, const std::string& zone,
                      const ScheduleTick& tick);
// Prints a schedule in full: its members, its state and its next ticks.
void show_schedule_in_full(CommandContext& world, const ScheduleView& view);

// Parses "2026-11-22", "2026-11-22 15:03" or "2026-11-22 15:03:20", in the zone of the settings, or
// "2026-11-22T15:03:00Z". Fails with `invalid` for another text, and for a local time that does not
// exist. Of a local time that exists twice, the result is the first.
Result<Instant> moment_from(std::string_view option, const TimeZone& zone, std::string_view text);

// Parses "30s", "10m", "2h" or "1d" into seconds; "0" is 0.
Result<std::int64_t> seconds_from(std::string_view option, std::string_view text);

}  // namespace belay::cli
