// Schedules of a service: their ticks, whichever process dies at whichever commit.

#include "belay/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <set>

#include "belay/context.h"
#include "scheduler/schedule_rules.h"
#include "scheduler/scheduler.h"
#include "service/local_service.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Job {
  std::string item{};
  std::int64_t seconds = 0;
};

Graph<Job> job_graph() {
  GraphBuilder<Job> graph{"job"};
  graph.node("work", [](const Job& job, Context&) -> Task<Result<Update<Job>>> {
    if (job.seconds > 0) co_await sleep_for(std::chrono::seconds(job.seconds));
    co_return set(&Job::item, job.item + " done");
  });
  graph.edge(start, "work").edge("work", end);
  return std::move(graph).build().value();
}

// A process with a service, of which the scheduler can die at a commit.
struct SchedulerProcess {
  SchedulerProcess(CrashingStoreFixture& world, const Graph<Job>& graph)
      : store(*world.kept), loop(world.loop), clock(world.clock) {
    RuntimeParts parts{store, world.loop, world.clock, world.random, world.model};
    runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    LocalServiceParts service_parts{
        store, store, *runtime, world.loop, world.clock, world.random, {graph.definition()},
        {},    {}};
    service = make_local_service(std::move(service_parts));
  }
  scheduler::SchedulerParts parts() { return {store, *service, clock, zones, default_tenant()}; }
  Task<Done> run() {
    while (true) {
      auto started = co_await scheduler::process_due_schedules(parts());
      if (!started.ok()) errors.push_back(started.error().message);
      co_await sleep_for(1s);
    }
  }
  void start() {
    std::function<void(Done)> never = [](Done) {};
    running = spawn<Done>(loop, run(), std::move(never));
  }

  HaltingStore store;
  testing::SimulatedLoop& loop;
  Clock& clock;
  const cron::ZoneDatabase zones;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Service> service;
  std::vector<std::string> errors;
  Spawned running;
};

struct ServiceSchedules : CrashingStoreFixture {
  Graph<Job> graph = job_graph();
  const Principal program;
  const UserId ana{"ana"};

  ScheduleChange every(std::string expression, std::int64_t seconds = 0) {
    ScheduleChange wanted;
    wanted.expression = std::move(expression);
    wanted.agent = "job";
    wanted.input = Value::object({{"item", "a hat"}, {"seconds", seconds}});
    return wanted;
  }
  template <typename T>
  T wait(Task<T> task) {
    return block_on(loop, std::move(task));
  }
  std::vector<ScheduleTick> ticks(SchedulerProcess& process, const std::string& name = "hats") {
    std::vector<ScheduleTick> all;
    std::string after;
    do {
      auto page = wait(process.service->schedules().ticks(program, ana, name, after, 100));
      EXPECT_TRUE(page.ok());
      if (!page.ok()) break;
      for (ScheduleTick& tick : page->ticks) all.push_back(std::move(tick));
      after = page->next;
    } while (!after.empty());
    return all;
  }
  std::vector<RunRow> runs(SchedulerProcess& process) {
    std::vector<RunRow> all;
    RunPage page;
    page.limit = 100;
    while (true) {
      auto rows = wait(process.service->runs(program, page));
      EXPECT_TRUE(rows.ok());
      if (!rows.ok() || rows->empty()) return all;
      for (RunRow& row : *rows) all.push_back(std::move(row));
      page.before = all.back().run;
    }
  }
  Result<ScheduleView> add(SchedulerProcess& process, ScheduleChange wanted,
                           std::string name = "hats", UserId user = UserId("ana")) {
    return wait(process.service->schedules().add(program, std::move(user), std::move(name),
                                                 std::move(wanted)));
  }
};

TEST_F(ServiceSchedules, StartARunOfTheUserForEachTick) {
  SchedulerProcess process(*this, graph);
  auto added = add(process, every("@every 10s"));
  ASSERT_TRUE(added.ok()) << added.error().message;
  EXPECT_EQ(added->next.size(), 1u);
  process.start();
  loop.run_until(clock.now() + 35s);
  process.running.reset();
  std::vector<RunRow> all = runs(process);
  ASSERT_EQ(all.size(), 1u) << "no worker executes the first run, and the overlap is skip";
  EXPECT_EQ(all[0].user, ana);
  EXPECT_EQ(all[0].status, RunStatus::queued);
  EXPECT_THAT(all[0].thread.text, HasSubstr("hats 2026-"));
  std::vector<ScheduleTick> entries = ticks(process);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].decision, "skipped");
  EXPECT_EQ(entries[0].count, 2);
  EXPECT_EQ(entries[1].run, all[0].run.text());
  EXPECT_THAT(process.errors, IsEmpty());
}

TEST_F(ServiceSchedules, OfAnUnknownAgentOrAWrongInputAreRefused) {
  SchedulerProcess process(*this, graph);
  ScheduleChange wanted = every("@every 10s");
  wanted.agent = "jbo";
  EXPECT_EQ(add(process, wanted).error().code, ErrorCode::not_found);
  wanted = every("@every 10s");
  wanted.input = Value::object({{"itme", "a hat"}});
  auto refused = add(process, wanted);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("itme"));
}

TEST_F(ServiceSchedules, AddedAgainAreTheSameOrAConflict) {
  SchedulerProcess process(*this, graph);
  ASSERT_TRUE(add(process, every("@every 10s")).ok());
  EXPECT_TRUE(add(process, every("@every 10s")).ok());
  EXPECT_EQ(add(process, every("@every 11s")).error().code, ErrorCode::conflict);
  EXPECT_TRUE(add(process, every("@every 11s"), "hats", UserId("ben")).ok())
      << "another user has other names";
}

TEST_F(ServiceSchedules, WhoseRunCannotStartRecordAFailure) {
  SchedulerProcess process(*this, graph);
  ScheduleChange wanted = every("@every 10s");
  wanted.thread = "t";
  ASSERT_TRUE(add(process, wanted).ok());
  StartRun start;
  start.agent = "job";
  start.input = Value::Object();
  start.thread = ThreadId("t");
  start.user = UserId("ben");
  start.queued = true;
  ASSERT_TRUE(wait(process.service->start(program, std::move(start))).ok());
  process.start();
  loop.run_until(clock.now() + 15s);
  process.running.reset();
  auto view = wait(process.service->schedules().show(program, ana, "hats", 3));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->schedule.failed, 1);
  EXPECT_FALSE(view->schedule.last_error.empty());
  EXPECT_EQ(ticks(process)[0].decision, "failed");
  EXPECT_EQ(view->next.size(), 3u) << "the schedule continues";
}

TEST_F(ServiceSchedules, StartNowOnceForAKey) {
  SchedulerProcess process(*this, graph);
  ASSERT_TRUE(add(process, every("@every 1h")).ok());
  Schedules& schedules = process.service->schedules();
  auto first = wait(schedules.run_now(program, ana, "hats", "k"));
  auto second = wait(schedules.run_now(program, ana, "hats", "k"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->row.run, second->row.run);
  EXPECT_EQ(ticks(process).size(), 1u);
  EXPECT_TRUE(wait(schedules.run_now(program, ana, "hats", "")).ok());
  EXPECT_EQ(runs(process).size(), 2u);
}

TEST_F(ServiceSchedules, BackfillTheTicksWithoutARun) {
  SchedulerProcess process(*this, graph);
  Instant begin = clock.now();
  ScheduleChange wanted = every("@every 10s");
  wanted.overlap = "allow";
  ASSERT_TRUE(add(process, wanted).ok());
  process.start();
  loop.run_until(clock.now() + 25s);
  process.running.reset();
  clock.move(10min);
  Schedules& schedules = process.service->schedules();
  BackfillRange range{begin, begin + 1min, true};
  auto counted = wait(schedules.backfill(program, ana, "hats", range));
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->ticks, 6);
  EXPECT_EQ(runs(process).size(), 2u) << "a dry run starts nothing";
  range.dry_run = false;
  auto filled = wait(schedules.backfill(program, ana, "hats", range));
  ASSERT_TRUE(filled.ok()) << filled.error().message;
  EXPECT_EQ(filled->started, 4);
  EXPECT_EQ(runs(process).size(), 6u);
  EXPECT_EQ(wait(schedules.backfill(program, ana, "hats", range))->started, 0);
  range.until = clock.now() + 1h;
  EXPECT_EQ(wait(schedules.backfill(program, ana, "hats", range)).error().code, ErrorCode::invalid);
  range = {begin - std::chrono::hours(24), begin, true};
  auto too_many = wait(schedules.backfill(program, ana, "hats", range));
  ASSERT_FALSE(too_many.ok());
  EXPECT_THAT(too_many.error().message, HasSubstr("8640 ticks"));
}

TEST_F(ServiceSchedules, AreRemovedWithTheirTicks) {
  SchedulerProcess process(*this, graph);
  ASSERT_TRUE(add(process, every("@every 10s")).ok());
  process.start();
  loop.run_until(clock.now() + 15s);
  Schedules& schedules = process.service->schedules();
  EXPECT_TRUE(wait(schedules.remove(program, ana, "hats")).ok());
  loop.run_until(clock.now() + 30s);
  process.running.reset();
  EXPECT_EQ(wait(schedules.show(program, ana, "hats", 1)).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(schedules.remove(program, ana, "hats")).error().code, ErrorCode::not_found);
  ASSERT_TRUE(add(process, every("@every 10s")).ok());
  EXPECT_THAT(ticks(process), IsEmpty());
  EXPECT_EQ(runs(process).size(), 1u);
}

TEST_F(ServiceSchedules, OfOtherUsersAreNotAccessible) {
  SchedulerProcess process(*this, graph);
  ASSERT_TRUE(add(process, every("@every 10s")).ok());
  Principal ben;
  ben.user = UserId("ben");
  ben.permission = Permission::run;
  Schedules& schedules = process.service->schedules();
  EXPECT_EQ(wait(schedules.show(ben, ana, "hats", 1)).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(schedules.remove(ben, ana, "hats")).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(schedules.add(ben, ana, "caps", every("@every 1s"))).error().code,
            ErrorCode::not_found);
  SchedulePage page;
  EXPECT_THAT(wait(schedules.list(ben, page))->schedules, IsEmpty());
  page.user = ana;
  EXPECT_EQ(wait(schedules.list(ben, page)).error().code, ErrorCode::not_found);
  page.user.reset();
  EXPECT_EQ(wait(schedules.list(program, page))->schedules.size(), 1u);
  std::vector<RecordWrite> forged{record_write(Schedule(), UserId()).value_or(RecordWrite())};
  forged[0].collection = Schedule::collection;
  EXPECT_FALSE(wait(process.service->save_records(program, forged)).ok());
}

TEST_F(ServiceSchedules, CannotNameAnotherUserAsTheCallerOfTheirRuns) {
  SchedulerProcess process(*this, graph);
  Principal caller;
  caller.user = ana;
  caller.permission = Permission::run;
  ScheduleChange wanted = every("@every 10s");
  wanted.configuration = R"({"configurable":{"langgraph_auth_user_id":"eve"}})";
  const std::string mended = R"({"configurable":{"langgraph_auth_user_id":"ana"}})";
  Schedules& schedules = process.service->schedules();
  EXPECT_EQ(wait(schedules.add(caller, ana, "hats", wanted))->schedule.run.configuration, mended);
  ScheduleChange change;
  change.configuration = wanted.configuration;
  EXPECT_EQ(wait(schedules.edit(caller, ana, "hats", change))->schedule.run.configuration, mended);
}

TEST_F(ServiceSchedules, OfAModuleFollowItsDeclaration) {
  SchedulerProcess process(*this, graph);
  ModuleSchedule declared{"hats", "job", 10s};
  declared.input = Value::object({{"item", "a hat"}});
  declared.module = "letters";
  auto declare = [&] {
    return wait(scheduler::declare_schedules(process.parts(), ana, {declared}));
  };
  ASSERT_TRUE(declare().ok());
  Schedules& schedules = process.service->schedules();
  EXPECT_EQ(wait(schedules.show(program, ana, "hats", 1))->schedule.expression, "@every 10s");
  ScheduleChange pause;
  pause.paused = true;
  ASSERT_TRUE(wait(schedules.edit(program, ana, "hats", pause)).ok());
  declared.every = 20s;
  ASSERT_TRUE(declare().ok());
  auto view = wait(schedules.show(program, ana, "hats", 1));
  EXPECT_EQ(view->schedule.expression, "@every 20s");
  EXPECT_TRUE(view->schedule.paused);
  EXPECT_EQ(wait(schedules.remove(program, ana, "hats")).error().code, ErrorCode::conflict);
  ASSERT_TRUE(add(process, every("@every 10s"), "caps").ok());
  declared.name = "caps";
  EXPECT_EQ(declare().error().code, ErrorCode::conflict);
}

// Three schedulers that die at any commit, a worker, and a clock that jumps.
TEST_F(ServiceSchedules, DecideEachTickOnceWhicheverProcessDies) {
  int kills = 0;
  std::size_t starts = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    testing::SeededRandom chance{seed};
    auto number = [&](std::uint64_t most) { return static_cast<int>(chance.bits() % most); };
    kept = open_memory_store(clock, random);
    SchedulerProcess worker(*this, graph);
    ScheduleChange wanted =
        every(number(2) == 0 ? "@every 2s" : "*/5 * * * * *", number(2) == 0 ? 0 : number(12));
    wanted.overlap = name_of(static_cast<Overlap>(number(4)));
    wanted.catch_up_seconds = number(30);
    wanted.jitter_seconds = number(3) == 0 ? number(5) : 0;
    if (number(3) == 0) wanted.thread = "hats";
    ASSERT_TRUE(add(worker, wanted).ok());
    Instant created = clock.now();
    std::function<void(Result<std::size_t>)> never = [](Result<std::size_t>) {};
    Spawned works =
        spawn<Result<std::size_t>>(loop, worker.runtime->run_worker({}), std::move(never));
    std::list<std::unique_ptr<SchedulerProcess>> schedulers;
    for (int round = 0; round < 8; ++round) {
      while (schedulers.size() < 3) {
        schedulers.push_back(std::make_unique<SchedulerProcess>(*this, graph));
        HaltingStore& halting = schedulers.back()->store;
        if (number(4) != 0) halting.halt_at = 1 + number(9);
        halting.lands = number(2) == 0;
        schedulers.back()->start();
      }
      loop.run_until(clock.now() + std::chrono::milliseconds(number(9'000)));
      if (number(6) == 0) clock.move(std::chrono::seconds(number(90)));
      if (number(6) == 0) clock.move(-std::chrono::seconds(number(20)));
      std::erase_if(schedulers, [&](const auto& each) {
        bool is_dead = each->store.halt_at > 0 && each->store.commits >= each->store.halt_at;
        kills += is_dead ? 1 : 0;
        return is_dead;
      });
    }
    schedulers.clear();
    SchedulerProcess last(*this, graph);
    last.start();
    loop.run_until(clock.now() + 40s);
    last.running.reset();
    auto view = wait(last.service->schedules().show(program, ana, "hats", 1));
    ASSERT_TRUE(view.ok());
    std::vector<ScheduleTick> entries = ticks(last);
    std::set<std::string> of_ticks;
    std::int64_t count = 0;
    for (const ScheduleTick& entry : entries) {
      count += entry.count;
      if (entry.decision == "started") {
        EXPECT_TRUE(of_ticks.insert(entry.run).second) << seed << ": one run, two ticks";
      }
    }
    auto times = scheduler::times_of(view->schedule, last.zones).value();
    EXPECT_EQ(count, times.count(created, view->schedule.decided)) << seed;
    EXPECT_GE(view->schedule.decided, times.previous(clock.now() - 10s).value()) << seed;
    std::set<std::string> of_runs;
    for (const RunRow& row : runs(last)) of_runs.insert(row.run.text());
    if (view->schedule.starting) continue;  // its run might exist before its entry
    EXPECT_EQ(of_runs, of_ticks) << seed;
    starts += of_runs.size();
    works.reset();
  }
  EXPECT_GT(kills, 300);
  EXPECT_GT(starts, 1'000u);
}

}  // namespace
}  // namespace belay
