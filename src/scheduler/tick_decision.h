#pragma once
// scheduler/tick_decision.h - decides the ticks of a schedule. The functions read no store and no
// clock: the same arguments have the same result.

#include <optional>
#include <string>
#include <vector>

#include "belay/schedule.h"
#include "cron/schedule.h"

namespace belay::scheduler {

// A schedule after a decision, and the entries that are saved with it in one commit.
struct TickDecision {
  Schedule schedule;
  std::vector<ScheduleTick> entries = {};
};

// Decides the ticks up to `now`, but at most one that starts a run: Schedule::starting. `is_open`:
// the last run has not ended. The schedule is not starting a tick.
TickDecision decide_ticks(Schedule schedule, const cron::Schedule& times, bool is_open,
                          Instant now);

// The tick that is starting has its run, or cannot have one.
TickDecision with_start(Schedule schedule, const cron::Schedule& times, const std::string& run,
                        const std::string& thread, Instant now);
TickDecision with_failure(Schedule schedule, const cron::Schedule& times, std::string reason,
                          Instant now);

// Ticks up to `now` that were not decided are missed, for this reason. The scheduler continues with
// the first tick of `times` after `now`. A buffered tick is skipped if the schedule is paused.
TickDecision with_new_beginning(Schedule schedule, const cron::Schedule& former,
                                const cron::Schedule& times, const std::string& reason,
                                Instant now);

// The time at which the run of a tick starts: the tick and its jitter.
Instant start_of(const Schedule& schedule, Instant tick);

// The thread of the run of a tick, and the key with which it is started.
std::string thread_of_tick(const Schedule& schedule, const ScheduledRun& run, Instant tick);
std::string key_of_tick(const Schedule& schedule, Instant tick);

}  // namespace belay::scheduler
