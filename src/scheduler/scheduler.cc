#include "scheduler/scheduler.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "scheduler/schedule_rules.h"

namespace belay::scheduler {
namespace {

constexpr std::size_t kPage = limits::bounded(100);
// Schedules that are processed at the same time: their commits share the waits for the disk.
constexpr std::size_t kTogether = 16;
// Steps of one schedule in one call: others are due, too.
constexpr int kStepsMax = 100;
constexpr int kDeclareTries = 10;

// Unrestricted: the schedule determines the user of its runs.
Principal principal_of(const SchedulerParts& parts) {
  Principal program;
  program.tenant = parts.tenant;
  return program;
}

// True if the same call might succeed later.
bool is_transient(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::uncertain ||
         code == ErrorCode::cancelled || code == ErrorCode::corrupt;
}

// Processes one schedule until it is not due any more.
class DueSchedule {
 public:
  DueSchedule(const SchedulerParts& parts, std::string id) : parts_(parts), id_(std::move(id)) {}

  // Returns the number of starts.
  Task<Result<std::size_t>> process() {
    for (int i = 0; i < kStepsMax; ++i) {
      std::string id = id_;
      BELAY_CO_TRY(auto found, co_await parts_.records().find(std::move(id)));
      bool is_due = found && found->record.waits && found->record.wake <= parts_.clock.now();
      if (!is_due) co_return started_;
      BELAY_CO_CHECK(co_await step(*std::move(found)));
    }
    co_return started_;
  }

 private:
  Task<Result<Done>> step(Versioned<Schedule> found) {
    auto times = times_of(found.record, parts_.zones);
    TickDecision decision;
    bool is_start = false;
    if (!times.ok()) {
      decision = without_times(std::move(found.record), times.error());
    } else if (found.record.starting) {
      BELAY_CO_TRY(decision, co_await start(std::move(found.record), *times));
      is_start = decision.entries.back().decision == "started";
    } else {
      RunId last = run_named(found.record.last_run);
      BELAY_CO_TRY(bool is_open, co_await is_open_run(last));
      decision = decide_ticks(std::move(found.record), *times, is_open, parts_.clock.now());
    }
    // Of several workers one saves; the others read its decision.
    BELAY_CO_TRY(bool is_saved, co_await parts_.records().save(std::move(decision), found.version));
    if (is_saved && is_start) ++started_;
    co_return Done{};
  }

  // The zone database is damaged, or has the zone no longer.
  TickDecision without_times(Schedule schedule, const Error& why) const {
    schedule.last_error = why.message;
    schedule.wake = parts_.clock.now() + std::chrono::minutes(1);
    return TickDecision{std::move(schedule)};
  }

  static RunId run_named(const std::string& text) {
    auto id = uuid_from(text);
    return id ? RunId(*id) : RunId();
  }

  Task<Result<bool>> is_open_run(RunId run) const {
    if (run.is_null()) co_return false;
    Principal who = principal_of(parts_);
    auto row = co_await parts_.service.run(who, run);
    if (row.ok()) co_return !is_final(row->status);
    if (row.error().code == ErrorCode::not_found) co_return false;  // deleted
    co_return std::move(row).error();
  }

  Task<Result<TickDecision>> start(Schedule schedule, cron::Schedule times) const {
    if (schedule.starting_cancels) {
      std::string by = "schedule " + schedule.name;
      BELAY_CO_CHECK(co_await cancel_last(schedule, std::move(by)));
    }
    Instant tick = *schedule.starting;
    ScheduledRun run = schedule.starting_run;
    auto view = co_await start_tick(parts_, schedule, std::move(run), tick);
    Instant now = parts_.clock.now();
    if (!view.ok()) {
      if (is_transient(view.error().code)) co_return std::move(view).error();
      co_return with_failure(std::move(schedule), times, view.error().message, now);
    }
    co_return with_start(std::move(schedule), times, view->row.run.text(), view->row.thread.text,
                         now);
  }

  Task<Result<Done>> cancel_last(const Schedule& schedule, std::string by) const {
    Principal who = principal_of(parts_);
    ThreadId thread(schedule.last_thread);
    std::optional<RunId> run = run_named(schedule.last_run);
    auto cancelled = co_await parts_.service.cancel(who, std::move(thread), std::move(by), "", run);
    // Otherwise it has ended, or was deleted.
    if (!cancelled.ok() && is_transient(cancelled.error().code)) {
      co_return std::move(cancelled).error();
    }
    co_return Done{};
  }

  const SchedulerParts& parts_;
  const std::string id_;
  std::size_t started_ = 0;
};

// The due schedules of a page, of which several are processed at the same time.
class DuePage {
 public:
  DuePage(const SchedulerParts& parts, std::vector<std::string> ids)
      : parts_(parts), ids_(std::move(ids)) {}

  // Returns the number of starts. The first error is returned after the other schedules.
  Task<Result<std::size_t>> process() {
    if (ids_.empty()) co_return std::size_t{0};
    Executor& executor = co_await this_executor();
    std::vector<Spawned> tasks(std::min(kTogether, ids_.size()));
    open_ = tasks.size();
    std::function<void(Done)> ended = [this](Done) {
      if (--open_ == 0) all_ended_.complete(Done{});
    };
    for (Spawned& task : tasks) task = spawn<Done>(executor, process_some(), ended);
    co_await all_ended_;
    if (first_error_) co_return *std::move(first_error_);
    co_return started_;
  }

 private:
  Task<Done> process_some() {
    while (next_ < ids_.size()) {
      DueSchedule due(parts_, ids_[next_++]);
      auto processed = co_await due.process();
      if (processed.ok()) {
        started_ += *processed;
      } else if (!first_error_) {
        first_error_ = std::move(processed).error();
      }
    }
    co_return Done{};
  }

  const SchedulerParts& parts_;
  const std::vector<std::string> ids_;
  std::size_t next_ = 0;
  std::size_t open_ = 0;
  std::size_t started_ = 0;
  std::optional<Error> first_error_;
  Completion<Done> all_ended_;
};

ScheduleChange change_of(const ModuleSchedule& schedule) {
  ScheduleChange change;
  change.expression = schedule.expression.empty()
                          ? "@every " + std::to_string(schedule.every.count()) + "s"
                          : schedule.expression;
  change.zone = schedule.zone;
  change.agent = schedule.graph;
  change.input = schedule.input;
  // Of the times of an outage, the latest has a run.
  if (schedule.expression.empty()) change.catch_up_seconds = schedule.every.count();
  return change;
}

Task<Result<bool>> declare_once(SchedulerParts parts, UserId user, ModuleSchedule declared) {
  std::string id = schedule_id(user, declared.name);
  BELAY_CO_TRY(auto found, co_await parts.records().find(std::move(id)));
  ScheduleChange change = change_of(declared);
  Instant now = parts.clock.now();
  if (!found) {
    BELAY_CO_TRY(Schedule added, new_schedule(user, declared.name, change, parts.zones, now));
    added.module = declared.module;
    TickDecision decision{std::move(added)};
    co_return co_await parts.records().save(std::move(decision), 0);
  }
  if (found->record.module.empty()) {
    co_return error(ErrorCode::conflict, "The user " + in_quotes(user.text) +
                                             " has added a schedule " + in_quotes(declared.name) +
                                             ", which a module declares, too. Rename one of them.");
  }
  BELAY_CO_TRY(TickDecision changed, changed_schedule(found->record, change, parts.zones, now));
  if (has_same_settings(changed.schedule, found->record)) co_return true;
  co_return co_await parts.records().save(std::move(changed), found->version);
}

}  // namespace

StartRun scheduled_start(const Schedule& schedule, const ScheduledRun& run) {
  StartRun start;
  start.agent = run.agent;
  start.input = run.input;
  start.user = UserId(schedule.user);
  start.thread = ThreadId(run.thread);
  start.queue = run.queue;
  start.priority = run.priority;
  start.run = settings_of_run(run);
  start.queued = true;
  start.if_busy = BusyThread::enqueue;
  return start;
}

Task<Result<RunView>> start_tick(SchedulerParts parts, Schedule schedule, ScheduledRun run,
                                 Instant tick) {
  StartRun start = scheduled_start(schedule, run);
  start.thread = ThreadId(thread_of_tick(schedule, run, tick));
  start.idempotency_key = key_of_tick(schedule, tick);
  Principal who = principal_of(parts);
  auto view = co_await parts.service.start(who, std::move(start));
  co_return std::move(view);
}

Task<Result<std::size_t>> process_due_schedules(SchedulerParts parts) {
  std::size_t started = 0;
  std::optional<Error> first_error;
  auto reader = parts.records().records();
  std::string next;
  Instant now = parts.clock.now();
  do {
    RecordSpan span = RecordSpan("due").limit(kPage);
    span.from(true).until(true, now + Instant::duration(1));
    if (!next.empty()) span.after(next);
    BELAY_CO_TRY(auto page, co_await read_page<Schedule>(*reader, std::move(span)));
    std::vector<std::string> ids;
    for (const auto& each : page.records) ids.push_back(each.record.id);
    DuePage due(parts, std::move(ids));
    auto processed = co_await due.process();
    if (processed.ok()) {
      started += *processed;
    } else if (!first_error) {
      first_error = std::move(processed).error();
    }
    next = page.next;
  } while (!next.empty());
  if (first_error) co_return *std::move(first_error);
  co_return started;
}

Task<Result<Done>> declare_schedules(SchedulerParts parts, UserId user,
                                     std::vector<ModuleSchedule> schedules) {
  for (const ModuleSchedule& schedule : schedules) {
    bool is_declared = false;
    for (int i = 0; i < kDeclareTries && !is_declared; ++i) {
      BELAY_CO_TRY(is_declared, co_await declare_once(parts, user, schedule));
    }
  }
  co_return Done{};
}

Result<Done> check_module_schedule(const ModuleSchedule& schedule,
                                   const cron::ZoneDatabase& zones) {
  auto made = new_schedule(UserId("local"), schedule.name, change_of(schedule), zones, Instant());
  if (made.ok()) return Done{};
  return error(ErrorCode::invalid,
               "The schedule " + in_quotes(schedule.name) + ": " + made.error().message);
}

}  // namespace belay::scheduler
