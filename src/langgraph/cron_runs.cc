#include "langgraph/cron_runs.h"

#include "base/run_of_key.h"
#include "langgraph/records.h"
#include "scheduler/tick_decision.h"

namespace belay::langgraph {
namespace {

// Ticks that wait for an earlier run are decided again later.
constexpr std::chrono::hours kDecidedAgain{24};
constexpr std::size_t kTicksMax = limits::bounded(10'000);  // of one poll

}  // namespace

Task<Result<Done>> CronRuns::watch(CronWatch watch, bool changed) {
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  std::string key = watch.id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<CronWatch>(std::move(key)));
  std::vector<RecordWrite> writes;
  bool watches = watch.deletes_threads || !watch.webhook.empty();
  if (found ? !changed : !watches) co_return Done{};
  if (!watches) {
    writes.push_back(record_erasure(CronWatch::collection, UserId(), std::move(watch.id)));
    writes.back().is_of_tenant = true;
    co_return co_await world_.parts.service.save_records(who_, std::move(writes));
  }
  // Earlier runs of the cron have no endings.
  watch.decided = watch.wake = world_.parts.clock.now();
  if (found) {
    watch.seen = found->record.seen;
    watch.decided = found->record.decided;
    watch.wake = found->record.wake;
  }
  BELAY_CO_CHECK(add_write(writes, watch, UserId(), found ? found->version : 0));
  co_return co_await world_.parts.service.save_records(who_, std::move(writes));
}

Task<Result<Done>> CronRuns::finish(std::string id) {
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  BELAY_CO_TRY(auto found, co_await records->get_versioned<CronWatch>(std::move(id)));
  if (!found) co_return Done{};
  UserId user(found->record.user);
  std::string name = found->record.schedule;
  auto view =
      co_await world_.parts.service.schedules().show(who_, std::move(user), std::move(name), 1);
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  if (is_absent) co_return Done{};
  if (!view.ok()) co_return std::move(view).error();
  // A worker can be starting the run of a tick now, which is not recorded yet.
  BELAY_CO_CHECK(co_await add_ending_of_start(found->record, view->schedule));
  // A server can add the same endings now: each run has one.
  co_return co_await perform(*found, view->schedule);
}

Task<Result<std::optional<Schedule>>> CronRuns::work_on(const CronWatch& watch) {
  UserId user(watch.user);
  std::string name = watch.schedule;
  BELAY_CO_TRY(ScheduleView view, co_await world_.parts.service.schedules().show(
                                      who_, std::move(user), std::move(name), 1));
  bool is_seen = view.schedule.last_run == watch.seen;
  if (is_seen) co_return std::optional<Schedule>();
  co_return std::optional(std::move(view.schedule));
}

Task<Result<Done>> CronRuns::perform(Versioned<CronWatch>& watch, Schedule& schedule) {
  Schedules& schedules = world_.parts.service.schedules();
  Instant latest = watch.record.decided;
  std::string place;
  std::size_t count = 0;
  bool has_more = true;
  while (has_more && count < kTicksMax) {
    UserId user(watch.record.user);
    std::string name = watch.record.schedule, after = place;
    BELAY_CO_TRY(ScheduleTicks page,
                 co_await schedules.ticks(who_, std::move(user), std::move(name), std::move(after),
                                          limits::list_rows_max));
    for (const ScheduleTick& tick : page.ticks) {
      BELAY_CO_CHECK(co_await add_ending(watch.record, schedule, tick));
      latest = std::max(latest, tick.decided_at);
    }
    count += page.ticks.size();
    place = std::move(page.next);
    has_more = !place.empty() && page.ticks.back().at + kDecidedAgain >= watch.record.decided;
  }
  watch.record.seen = schedule.last_run;
  watch.record.decided = latest;
  co_return Done{};
}

Task<Result<Done>> CronRuns::add_ending_of_start(const CronWatch& watch, const Schedule& schedule) {
  if (!schedule.starting) co_return Done{};
  ScheduleTick tick;
  tick.decision = "started";
  tick.decided_at = watch.decided;
  tick.thread = scheduler::thread_of_tick(schedule, schedule.starting_run, *schedule.starting);
  std::string key = scheduler::key_of_tick(schedule, *schedule.starting);
  tick.run = run_of_key(who_.tenant, UserId(schedule.user), key).text();
  co_return co_await add_ending(watch, schedule, tick, kStartWindow);
}

Task<Result<Done>> CronRuns::add_ending(const CronWatch& watch, const Schedule& schedule,
                                        const ScheduleTick& tick, std::chrono::minutes unseen) {
  bool is_new = tick.decision == "started" && tick.decided_at >= watch.decided;
  if (!is_new) co_return Done{};
  RunEnding ending;
  ending.id = ending.run = tick.run;
  ending.thread = tick.thread;
  ending.user = watch.user;
  ending.webhook = watch.webhook;
  // A change through another door can have given the runs a permanent thread.
  ending.deletes_thread = watch.deletes_threads && schedule.run.thread.empty();
  BELAY_CO_CHECK(co_await endings_.add(std::move(ending), unseen));
  co_return Done{};
}

}  // namespace belay::langgraph
