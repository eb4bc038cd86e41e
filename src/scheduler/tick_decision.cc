#include "scheduler/tick_decision.h"

#include <algorithm>

#include "cron/due_ticks.h"
#include "cron/jitter.h"

namespace belay::scheduler {
namespace {

// The interval at which the end of the last run is awaited for a buffered tick.
constexpr std::chrono::seconds kBufferedInterval{1};
// Ticks that one decision processes at most; a schedule with more is decided again immediately.
constexpr std::size_t kTicksTogether = 100;

constexpr const char* kStillOpen = "The run of an earlier tick has not ended.";

ScheduleTick entry_of(const Schedule& schedule, Instant at, std::string decision,
                      std::string reason, Instant now) {
  ScheduleTick entry;
  entry.schedule = schedule.id;
  entry.at = entry.until = at;
  entry.decision = std::move(decision);
  entry.reason = std::move(reason);
  entry.decided_at = now;
  return entry;
}

void end_skipping(Schedule& schedule) {
  schedule.skipped_from.reset();
  schedule.skipped_together = 0;
}

void add_missed(TickDecision& decision, const cron::MissedTicks& missed, std::string reason,
                Instant now) {
  Schedule& schedule = decision.schedule;
  ScheduleTick entry = entry_of(schedule, missed.first, "missed", std::move(reason), now);
  entry.until = missed.last;
  entry.count = missed.count;
  decision.entries.push_back(std::move(entry));
  schedule.missed += missed.count;
  schedule.decided = std::max(schedule.decided, missed.last);
  end_skipping(schedule);
}

// Successive skipped ticks are one entry, which is saved again: a schedule of every second whose
// run takes an hour would otherwise have 3,600 of them.
void add_skipped(TickDecision& decision, Instant tick, std::string reason, Instant now) {
  Schedule& schedule = decision.schedule;
  if (!schedule.skipped_from) schedule.skipped_from = tick;
  ++schedule.skipped_together;
  ++schedule.skipped;
  ScheduleTick entry =
      entry_of(schedule, *schedule.skipped_from, "skipped", std::move(reason), now);
  entry.until = tick;
  entry.count = schedule.skipped_together;
  bool is_again = !decision.entries.empty() && decision.entries.back().key() == entry.key();
  if (is_again) decision.entries.pop_back();
  decision.entries.push_back(std::move(entry));
}

void begin_start(Schedule& schedule, Instant tick, bool cancels) {
  schedule.starting = tick;
  schedule.starting_cancels = cancels;
  schedule.starting_run = schedule.run;
  end_skipping(schedule);
}

void end_start(Schedule& schedule) {
  schedule.starting.reset();
  schedule.starting_cancels = false;
  schedule.starting_run = ScheduledRun();
}

// The scheduler reads the schedule at this time.
void set_wake(Schedule& schedule, const cron::Schedule& times, Instant now) {
  schedule.waits = true;
  schedule.wake = now;
  if (schedule.starting) return;
  if (schedule.paused) {
    schedule.waits = false;
    return;
  }
  std::optional<Instant> tick = times.next(schedule.decided);
  if (tick) schedule.wake = start_of(schedule, *tick);
  Instant look = now + kBufferedInterval;
  if (schedule.buffered && (!tick || look < schedule.wake)) {
    schedule.wake = look;
  } else if (!tick) {
    schedule.waits = false;
  }
}

// Decides one tick that is due while the schedule starts none. `buffered` ticks are in order: a
// later tick never starts before the buffered one.
void decide_tick(TickDecision& decision, Instant tick, bool is_open, Instant now) {
  Schedule& schedule = decision.schedule;
  schedule.decided = tick;
  Overlap overlap = overlap_named(schedule.overlap).value_or(Overlap::skip);
  if (!is_open || overlap == Overlap::allow) return begin_start(schedule, tick, false);
  if (overlap == Overlap::cancel_other) return begin_start(schedule, tick, true);
  if (overlap == Overlap::skip) return add_skipped(decision, tick, kStillOpen, now);
  if (schedule.buffered) {
    return add_skipped(decision, tick, "An earlier tick waits for the end of the last run.", now);
  }
  schedule.buffered = tick;
  end_skipping(schedule);
  decision.entries.push_back(entry_of(schedule, tick, "buffered", kStillOpen, now));
}

}  // namespace

Instant start_of(const Schedule& schedule, Instant tick) {
  return tick + cron::jitter(schedule.id, tick, std::chrono::seconds(schedule.jitter_seconds));
}

std::string thread_of_tick(const Schedule& schedule, const ScheduledRun& run, Instant tick) {
  return run.thread.empty() ? schedule.name + " " + to_text(tick) : run.thread;
}

std::string key_of_tick(const Schedule& schedule, Instant tick) {
  return "schedule " + schedule.id + " " + to_text(tick);
}

TickDecision decide_ticks(Schedule schedule, const cron::Schedule& times, bool is_open,
                          Instant now) {
  TickDecision decision{std::move(schedule)};
  Schedule& changed = decision.schedule;
  if (!changed.paused && changed.buffered && (!is_open || changed.overlap == "allow")) {
    Instant tick = *changed.buffered;
    changed.buffered.reset();
    begin_start(changed, tick, false);
  }
  if (!changed.paused && !changed.starting) {
    cron::DueOptions options;
    options.catch_up = std::chrono::seconds(changed.catch_up_seconds + changed.jitter_seconds);
    options.limit = kTicksTogether;
    cron::DueTicks due = cron::due_ticks(times, changed.decided, now, options);
    if (due.missed) {
      add_missed(decision, *due.missed,
                 "No worker decided them within the catch-up window of " +
                     std::to_string(changed.catch_up_seconds) + " s.",
                 now);
    }
    for (Instant tick : due.fire) {
      if (changed.starting || start_of(changed, tick) > now) break;
      decide_tick(decision, tick, is_open, now);
    }
  }
  set_wake(changed, times, now);
  return decision;
}

TickDecision with_start(Schedule schedule, const cron::Schedule& times, const std::string& run,
                        const std::string& thread, Instant now) {
  TickDecision decision{std::move(schedule)};
  Schedule& changed = decision.schedule;
  ScheduleTick entry = entry_of(changed, changed.starting.value_or(now), "started", "", now);
  if (changed.starting_cancels) entry.reason = "The run of an earlier tick was cancelled.";
  entry.run = changed.last_run = run;
  entry.thread = changed.last_thread = thread;
  decision.entries.push_back(std::move(entry));
  changed.last_error.clear();
  ++changed.started;
  end_start(changed);
  set_wake(changed, times, now);
  return decision;
}

TickDecision with_failure(Schedule schedule, const cron::Schedule& times, std::string reason,
                          Instant now) {
  TickDecision decision{std::move(schedule)};
  Schedule& changed = decision.schedule;
  changed.last_error = reason;
  decision.entries.push_back(
      entry_of(changed, changed.starting.value_or(now), "failed", std::move(reason), now));
  ++changed.failed;
  end_start(changed);
  set_wake(changed, times, now);
  return decision;
}

TickDecision with_new_beginning(Schedule schedule, const cron::Schedule& former,
                                const cron::Schedule& times, const std::string& reason,
                                Instant now) {
  TickDecision decision{std::move(schedule)};
  Schedule& changed = decision.schedule;
  std::int64_t count = now > changed.decided ? former.count(changed.decided, now) : 0;
  std::optional<Instant> first = former.next(changed.decided);
  std::optional<Instant> last = former.previous(now + Instant::duration(1));
  if (count > 0 && first && last) {
    add_missed(decision, {count, *first, *last}, reason, now);
  }
  if (changed.paused && changed.buffered) {
    end_skipping(changed);  // the ticks skipped after the buffered one are another entry
    add_skipped(decision, *changed.buffered, reason, now);
    changed.buffered.reset();
  }
  end_skipping(changed);
  changed.decided = std::max(changed.decided, now);
  set_wake(changed, times, now);
  return decision;
}

}  // namespace belay::scheduler
