#include "scheduler/local_schedules.h"

#include "base/in_quotes.h"
#include "scheduler/schedule_rules.h"
#include "scheduler/scheduler.h"

namespace belay::scheduler {
namespace {

constexpr int kChangeTries = 10;

Error unknown(const std::string& name) {
  return error(ErrorCode::not_found, "Unknown schedule " + in_quotes(name) +
                                         ". List schedules with `belay schedules list`.");
}

Error changed_too_often(const std::string& name) {
  return error(ErrorCode::conflict,
               "The schedule " + in_quotes(name) + " was changed by others meanwhile. Try again.");
}

class LocalSchedules final : public Schedules {
 public:
  explicit LocalSchedules(LocalSchedulesParts parts) : parts_(std::move(parts)) {}

  Task<Result<ScheduleView>> add(const Principal& who, UserId user, std::string name,
                                 ScheduleChange wanted) override {
    Instant now = parts_.clock.now();
    BELAY_CO_TRY(Schedule added, new_schedule(user, name, wanted, parts_.zones, now));
    BELAY_CO_CHECK(check_start(who, added));
    TickDecision decision{added};
    BELAY_CO_TRY(bool is_new, co_await records(who).save(std::move(decision), 0));
    if (is_new) co_return view_of(std::move(added), 1);
    BELAY_CO_TRY(Versioned<Schedule> stored, co_await find(who, user, name));
    if (has_same_settings(stored.record, added)) co_return view_of(std::move(stored.record), 1);
    co_return error(ErrorCode::conflict, "The schedule " + in_quotes(name) +
                                             " exists, with other members. Edit it, or choose "
                                             "another name.");
  }

  Task<Result<ScheduleView>> edit(const Principal& who, UserId user, std::string name,
                                  ScheduleChange change) override {
    for (int i = 0; i < kChangeTries; ++i) {
      BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
      Instant now = parts_.clock.now();
      BELAY_CO_TRY(TickDecision changed, changed_schedule(found.record, change, parts_.zones, now));
      Schedule schedule = changed.schedule;
      if (has_same_settings(schedule, found.record)) co_return view_of(std::move(schedule), 1);
      BELAY_CO_CHECK(check_start(who, schedule));
      BELAY_CO_TRY(bool is_saved, co_await records(who).save(std::move(changed), found.version));
      if (is_saved) co_return view_of(std::move(schedule), 1);
    }
    co_return changed_too_often(name);
  }

  Task<Result<ScheduleView>> show(const Principal& who, UserId user, std::string name,
                                  std::size_t count) override {
    BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
    co_return view_of(std::move(found.record), std::min(count, limits::shown_ticks_max));
  }

  Task<Result<ListedSchedules>> list(const Principal& who, SchedulePage page) override {
    RecordSpan span = RecordSpan("user").limit(page.limit);
    if (page.user) span.equal_to(page.user->text);
    if (!page.after.empty()) span.after(page.after);
    auto reader = records(who).records();
    BELAY_CO_TRY(auto found, co_await read_page<Schedule>(*reader, std::move(span)));
    ListedSchedules listed;
    listed.next = found.next;
    for (auto& each : found.records) {
      listed.schedules.push_back(view_of(std::move(each.record), 1));
    }
    co_return std::move(listed);
  }

  Task<Result<Done>> remove(const Principal& who, UserId user, std::string name) override {
    for (int i = 0; i < kChangeTries; ++i) {
      BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
      if (!found.record.module.empty()) {
        co_return error(ErrorCode::conflict,
                        "The schedule " + in_quotes(name) + " is declared by the module " +
                            in_quotes(found.record.module) + ". Pause it instead.");
      }
      BELAY_CO_TRY(bool is_erased,
                   co_await records(who).erase(std::move(found.record), found.version));
      if (is_erased) co_return Done{};
    }
    co_return changed_too_often(name);
  }

  Task<Result<RunView>> run_now(const Principal& who, UserId user, std::string name,
                                std::string key) override {
    BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
    if (key.empty()) key = random_uuid(parts_.random).text();
    StartRun start = scheduled_start(found.record, found.record.run);
    if (start.thread.empty()) start.thread = ThreadId(name + " " + key);
    start.idempotency_key = "schedule " + found.record.id + " " + key;
    BELAY_CO_TRY(RunView view, co_await parts_.service.start(who, std::move(start)));
    // A repeated call saves the same entry again.
    ScheduleTick entry = started_entry(found.record, view.row.created_at, view, "Started by hand.");
    entry.decided_at = view.row.created_at;
    BELAY_CO_CHECK(co_await records(who).save_entry(std::move(entry)));
    co_return std::move(view);
  }

  Task<Result<Backfill>> backfill(const Principal& who, UserId user, std::string name,
                                  BackfillRange range) override {
    BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
    BELAY_CO_TRY(cron::Schedule times, times_of(found.record, parts_.zones));
    BELAY_CO_CHECK(check_range(times, range));
    std::vector<Instant> ticks = times.ticks(range.after, range.until, limits::backfill_ticks_max);
    Backfill done;
    done.ticks = static_cast<std::int64_t>(ticks.size());
    if (!ticks.empty()) {
      done.first = ticks.front();
      done.last = ticks.back();
    }
    if (range.dry_run) co_return done;
    for (Instant tick : ticks) {
      BELAY_CO_TRY(bool is_new, co_await fill(who, found.record, tick));
      if (is_new) ++done.started;
    }
    co_return done;
  }

  Task<Result<ScheduleTicks>> ticks(const Principal& who, UserId user, std::string name,
                                    std::string after, std::size_t limit) override {
    BELAY_CO_TRY(Versioned<Schedule> found, co_await find(who, user, name));
    RecordSpan span = RecordSpan("schedule").equal_to(found.record.id).last_first().limit(limit);
    if (!after.empty()) span.after(after);
    auto reader = records(who).records();
    BELAY_CO_TRY(auto page, co_await read_page<ScheduleTick>(*reader, std::move(span)));
    ScheduleTicks ticks;
    ticks.next = page.next;
    for (auto& each : page.records) ticks.ticks.push_back(std::move(each.record));
    co_return std::move(ticks);
  }

 private:
  ScheduleRecords records(const Principal& who) const {
    return {parts_.store, parts_.clock, who.tenant};
  }

  Task<Result<Versioned<Schedule>>> find(const Principal& who, UserId user, std::string name) {
    std::string id = schedule_id(user, name);
    BELAY_CO_TRY(auto found, co_await records(who).find(std::move(id)));
    if (!found) co_return unknown(name);
    co_return *std::move(found);
  }

  Result<Done> check_start(const Principal& who, const Schedule& schedule) const {
    if (!parts_.check_start) return Done{};
    return parts_.check_start(who, scheduled_start(schedule, schedule.run));
  }

  // Also of a schedule whose zone the database has no longer: it can be displayed and edited.
  ScheduleView view_of(Schedule schedule, std::size_t count) const {
    ScheduleView view;
    auto times = times_of(schedule, parts_.zones);
    if (times.ok()) {
      view.description = times->describe();
      Instant after = std::max(schedule.decided, parts_.clock.now());
      while (!schedule.paused && view.next.size() < count) {
        std::optional<Instant> tick = times->next(after);
        if (!tick) break;
        view.next.push_back(*tick);
        after = *tick;
      }
    }
    view.schedule = std::move(schedule);
    return view;
  }

  Result<Done> check_range(const cron::Schedule& times, const BackfillRange& range) const {
    if (range.until <= range.after) {
      return error(ErrorCode::invalid, "The range ends before it begins.");
    }
    if (range.until > parts_.clock.now()) {
      return error(ErrorCode::invalid, "The range ends in the future. End it now or earlier.");
    }
    std::int64_t count = times.count(range.after, range.until);
    constexpr auto most = static_cast<std::int64_t>(limits::backfill_ticks_max);
    if (count <= most) return Done{};
    return error(ErrorCode::invalid, "The range has " + std::to_string(count) +
                                         " ticks; a backfill has at most " + std::to_string(most) +
                                         ". Divide the range.");
  }

  static ScheduleTick started_entry(const Schedule& schedule, Instant at, const RunView& view,
                                    std::string reason) {
    ScheduleTick entry;
    entry.schedule = schedule.id;
    entry.at = entry.until = at;
    entry.decision = "started";
    entry.by_hand = true;
    entry.reason = std::move(reason);
    entry.run = view.row.run.text();
    entry.thread = view.row.thread.text;
    return entry;
  }

  // Starts the run of a tick that has none. False: it has one.
  Task<Result<bool>> fill(const Principal& who, Schedule schedule, Instant tick) {
    ScheduleTick entry;
    entry.schedule = schedule.id;
    entry.at = tick;
    auto reader = records(who).records();
    for (bool by_hand : {false, true}) {
      entry.by_hand = by_hand;
      BELAY_CO_TRY(auto stored, co_await reader->get<ScheduleTick>(entry.key()));
      if (stored && stored->decision == "started") co_return false;
    }
    SchedulerParts parts{parts_.store, parts_.service, parts_.clock, parts_.zones, who.tenant};
    ScheduledRun run = schedule.run;
    BELAY_CO_TRY(RunView view,
                 co_await start_tick(std::move(parts), schedule, std::move(run), tick));
    entry = started_entry(schedule, tick, view, "Backfill.");
    entry.decided_at = parts_.clock.now();
    BELAY_CO_CHECK(co_await records(who).save_entry(std::move(entry)));
    co_return true;
  }

  const LocalSchedulesParts parts_;
};

}  // namespace

std::unique_ptr<Schedules> local_schedules(LocalSchedulesParts parts) {
  return std::make_unique<LocalSchedules>(std::move(parts));
}

}  // namespace belay::scheduler
