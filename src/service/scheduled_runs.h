#pragma once
// service/scheduled_runs.h - starts the runs of a program's schedules (ModuleSchedule).
//
// Threading: on the executor's thread.

#include <vector>

#include "belay/module.h"

namespace belay {

// The collection that contains the last processed time of each schedule.
inline constexpr std::string_view schedules_collection = "module_schedules";

// Fails with `invalid`, naming the schedule, if its name or its interval is invalid.
Result<Done> check_schedule(const ModuleSchedule& schedule);

// Returns the latest time of the schedule that is not after `now`.
Instant time_of_schedule(const ModuleSchedule& schedule, Instant now);

// Starts a run of each schedule that has a time since the last one that was processed, and returns
// their number; of several such times, only the latest has a run. The first call for a schedule
// only stores the time.
//
// Any number of processes can call this at the same time, and each can stop at any point: a time
// has one run. The run is started first, with an idempotency key that contains the time; then the
// time is stored. If a run cannot be started, the others are, and the first error is returned; the
// next call tries it again. `user` is the user of the runs.
Task<Result<std::size_t>> start_scheduled_runs(Service& service, Runtime& runtime,
                                               const Principal& who, UserId user,
                                               std::vector<ModuleSchedule> schedules, Instant now);

}  // namespace belay
