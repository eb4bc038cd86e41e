#include "scheduler/schedule_rules.h"

#include <tuple>

#include "base/in_quotes.h"

namespace belay::scheduler {
namespace {

constexpr std::size_t kNameBytesMax = limits::identifier_bytes_max - 40;  // a tick or a key follows
constexpr std::size_t kReasonBytesMax = 1'000;
constexpr std::int64_t kCatchUpMax = 366LL * 24 * 3600;
constexpr std::int64_t kJitterMax = 24LL * 3600;

Error invalid(const std::string& what) { return error(ErrorCode::invalid, what); }

Result<Done> check_seconds(const std::string& member, std::int64_t value, std::int64_t most) {
  if (value >= 0 && value <= most) return Done{};
  return invalid(member + " must be from 0 to " + std::to_string(most) + " seconds, not " +
                 std::to_string(value) + ".");
}

Result<Done> check_run(const ScheduledRun& run) {
  if (run.agent.empty()) return invalid("The schedule has no agent. Name one.");
  BELAY_CHECK(check_name("agent", run.agent));
  BELAY_CHECK(check_name("queue", run.queue));
  if (!run.thread.empty()) BELAY_CHECK(check_name("thread", run.thread));
  if (!run.input.as_object()) return invalid("The input of a schedule must be a JSON object.");
  BELAY_CHECK(settings_of_run(run).options());
  return Done{};
}

Result<Done> check_schedule(const Schedule& schedule) {
  BELAY_CHECK(check_name("schedule", schedule.name));
  if (schedule.name.size() > kNameBytesMax) {
    return invalid("The name of the schedule has " + std::to_string(schedule.name.size()) +
                   " bytes; at most " + std::to_string(kNameBytesMax) + " are permitted.");
  }
  BELAY_CHECK(check_run(schedule.run));
  if (!overlap_named(schedule.overlap)) {
    return invalid("overlap must be skip, buffer_one, allow or cancel_other, not " +
                   in_quotes(schedule.overlap) + ".");
  }
  BELAY_CHECK(check_seconds("catchUpSeconds", schedule.catch_up_seconds, kCatchUpMax));
  BELAY_CHECK(check_seconds("jitterSeconds", schedule.jitter_seconds, kJitterMax));
  if (schedule.reason.size() > kReasonBytesMax) {
    return invalid("The reason has more than " + std::to_string(kReasonBytesMax) + " bytes.");
  }
  return Done{};
}

template <typename T>
void apply(const std::optional<T>& wanted, T& member) {
  if (wanted) member = *wanted;
}

Result<Schedule> with_members(Schedule schedule, const ScheduleChange& change) {
  if (change.reason && !change.paused) {
    return invalid("A reason belongs to a pause. Set \"paused\", too.");
  }
  apply(change.expression, schedule.expression);
  apply(change.zone, schedule.zone);
  apply(change.agent, schedule.run.agent);
  apply(change.thread, schedule.run.thread);
  apply(change.queue, schedule.run.queue);
  apply(change.input, schedule.run.input);
  apply(change.priority, schedule.run.priority);
  apply(change.overlap, schedule.overlap);
  apply(change.catch_up_seconds, schedule.catch_up_seconds);
  apply(change.jitter_seconds, schedule.jitter_seconds);
  if (change.durability) schedule.run.durability = change.durability;
  apply(change.supersteps, schedule.run.supersteps);
  apply(change.configuration, schedule.run.configuration);
  apply(change.breakpoints, schedule.run.breakpoints);
  apply(change.ends_at, schedule.ends_at);
  if (change.paused) {
    schedule.paused = *change.paused;
    schedule.reason = schedule.paused ? change.reason.value_or("") : "";
  }
  BELAY_CHECK(check_schedule(schedule));
  return schedule;
}

auto settings_of(const Schedule& schedule) {
  const ScheduledRun& run = schedule.run;
  return std::tie(schedule.expression, schedule.zone, schedule.overlap, schedule.catch_up_seconds,
                  schedule.jitter_seconds, schedule.paused, schedule.reason, run.agent, run.thread,
                  run.queue, run.input, run.priority, run.durability, run.supersteps,
                  run.configuration, run.breakpoints.before, run.breakpoints.after,
                  schedule.ends_at);
}

std::string reason_of_beginning(const Schedule& former, const Schedule& changed) {
  if (former.paused == changed.paused) return "The schedule was changed before they were decided.";
  const std::string& why = former.paused ? former.reason : changed.reason;
  return why.empty() ? "The schedule was paused." : "The schedule was paused: " + why;
}

}  // namespace

RunSettings settings_of_run(const ScheduledRun& run) {
  RunSettings settings;
  settings.durability = run.durability;
  if (run.supersteps != 0) settings.supersteps = run.supersteps;
  settings.configuration = run.configuration;
  if (run.breakpoints != Breakpoints()) settings.breakpoints = run.breakpoints;
  return settings;
}

std::string schedule_id(const UserId& user, const std::string& name) {
  std::string seed = "schedule";
  for (const std::string& part : {user.text, name}) seed += std::string(1, '\0') + part;
  return derived_uuid(seed).text();
}

Result<cron::Schedule> times_of(const Schedule& schedule, const cron::ZoneDatabase& zones) {
  BELAY_TRY(cron::CronExpression expression, cron::CronExpression::parse(schedule.expression));
  BELAY_TRY(cron::Zone zone, zones.find(schedule.zone));
  std::optional<Instant> until;
  if (schedule.ends_at != Instant()) until = schedule.ends_at;
  return cron::Schedule(expression, std::move(zone), until);
}

Result<Schedule> new_schedule(const UserId& user, const std::string& name,
                              const ScheduleChange& wanted, const cron::ZoneDatabase& zones,
                              Instant now) {
  Schedule schedule;
  schedule.id = schedule_id(user, name);
  schedule.user = user.text;
  schedule.name = name;
  schedule.created_at = schedule.updated_at = schedule.decided = now;
  BELAY_TRY(schedule, with_members(std::move(schedule), wanted));
  BELAY_TRY(cron::Schedule times, times_of(schedule, zones));
  if (!times.next(now)) {
    return invalid("The expression " + in_quotes(schedule.expression) + " has no further tick.");
  }
  return with_new_beginning(std::move(schedule), times, times, "", now).schedule;
}

Result<TickDecision> changed_schedule(const Schedule& schedule, const ScheduleChange& change,
                                      const cron::ZoneDatabase& zones, Instant now) {
  BELAY_TRY(Schedule changed, with_members(schedule, change));
  BELAY_TRY(cron::Schedule times, times_of(changed, zones));
  changed.updated_at = now;
  bool begins = changed.expression != schedule.expression || changed.zone != schedule.zone ||
                changed.paused != schedule.paused || changed.ends_at != schedule.ends_at;
  if (!begins) {
    // Another jitter moves the time of the next tick.
    changed.wake = std::min(changed.wake, now);
    return TickDecision{std::move(changed)};
  }
  // A zone that the database has no longer must not prevent its change.
  auto former = times_of(schedule, zones);
  std::string reason = reason_of_beginning(schedule, changed);
  const cron::Schedule& undecided = former.ok() ? *former : times;
  return with_new_beginning(std::move(changed), undecided, times, reason, now);
}

bool has_same_settings(const Schedule& one, const Schedule& other) {
  return settings_of(one) == settings_of(other);
}

}  // namespace belay::scheduler
