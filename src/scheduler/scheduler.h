#pragma once
// scheduler/scheduler.h - starts the runs of the schedules that are due.
//
// Any number of processes can call process_due_schedules() at the same time, and each can end at
// any point: README.md has the reason why a tick has one decision and at most one run.
//
// Threading: on the executor's thread.

#include "belay/module.h"
#include "belay/service.h"
#include "cron/zone_database.h"
#include "scheduler/schedule_records.h"

namespace belay::scheduler {

// The longest time between two reads of the due schedules: a user can add one at any time.
inline constexpr std::chrono::seconds poll_interval{1};

struct SchedulerParts {
  Store& store;
  Service& service;
  Clock& clock;
  const cron::ZoneDatabase& zones;
  TenantId tenant;

  ScheduleRecords records() const { return {store, clock, tenant}; }
};

// Returns the start of a run of the schedule, in the queue, for its user; without a key.
StartRun scheduled_start(const Schedule& schedule, const ScheduledRun& run);

// Starts the run of a tick: in the queue, for the schedule's user, with the key of the tick. A
// repeated start returns the run of the first.
Task<Result<RunView>> start_tick(SchedulerParts parts, Schedule schedule, ScheduledRun run,
                                 Instant tick);

// Decides the ticks of the schedules that are due now, and starts their runs; returns the number of
// starts. A schedule that fails does not prevent the others: the first error is returned after
// them, and the next call tries it again.
Task<Result<std::size_t>> process_due_schedules(SchedulerParts parts);

// Adds the schedules of a program's modules for this user, or changes the stored ones to them. A
// pause remains. `conflict` if the user has added another schedule of that name.
Task<Result<Done>> declare_schedules(SchedulerParts parts, UserId user,
                                     std::vector<ModuleSchedule> schedules);

// Fails with `invalid`, naming the schedule, if one of its members is invalid.
Result<Done> check_module_schedule(const ModuleSchedule& schedule, const cron::ZoneDatabase& zones);

}  // namespace belay::scheduler
