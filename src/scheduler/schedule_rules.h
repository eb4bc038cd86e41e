#pragma once
// scheduler/schedule_rules.h - the rules for the members of a schedule, and its changes.

#include "belay/schedule.h"
#include "cron/zone_database.h"
#include "scheduler/tick_decision.h"

namespace belay::scheduler {

// The id of a user's schedule of this name.
std::string schedule_id(const UserId& user, const std::string& name);

// Returns the ticks of the schedule. `invalid` for an expression or a zone that does not exist.
Result<cron::Schedule> times_of(const Schedule& schedule, const cron::ZoneDatabase& zones);

// Returns a new schedule, whose first tick is the first one after `now`. `invalid`, with the name
// of the member, for a change that a schedule cannot have.
Result<Schedule> new_schedule(const UserId& user, const std::string& name,
                              const ScheduleChange& wanted, const cron::ZoneDatabase& zones,
                              Instant now);

// Returns the schedule with the changes. Another expression, a new zone, a pause and a resumption
// have a new beginning: see with_new_beginning().
Result<TickDecision> changed_schedule(const Schedule& schedule, const ScheduleChange& change,
                                      const cron::ZoneDatabase& zones, Instant now);

// The settings with which the runs of a schedule start.
RunSettings settings_of_run(const ScheduledRun& run);

// True if the members that a ScheduleChange can set are equal.
bool has_same_settings(const Schedule& one, const Schedule& other);

}  // namespace belay::scheduler
