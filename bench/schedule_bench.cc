// Measures the scheduler on SQLite: the processor time of many idle schedules, and the time until
// the runs of schedules that fire in the same second have started.

#include <cstdio>

#include "belay/context.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "scheduler/schedule_rules.h"
#include "scheduler/scheduler.h"
#include "service/local_service.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int idle_schedules = 10'000;
constexpr int idle_passes = 300;
constexpr int due_schedules = 1'000;

struct Job {
  std::string item{};
};

Graph<Job> job_graph(int& begun) {
  GraphBuilder<Job> graph{"job"};
  graph.node("work", [&begun](const Job&, Context&) {
    ++begun;
    return set(&Job::item, "done");
  });
  graph.edge(start, "work").edge("work", end);
  return value_or_exit(std::move(graph).build());
}

// A process that executes runs and decides ticks.
struct Process {
  Process(World& world, const std::string& path, const Graph<Job>& graph)
      : store(value_or_exit(open_sqlite_store(path, *world.clock, *world.random))),
        runtime(world.runtime(*store, graph)) {
    LocalServiceParts service_parts{
        *store, *store, *runtime, *world.loop, *world.clock, *world.random, {graph.definition()},
        {},     {}};
    service = make_local_service(std::move(service_parts));
  }
  scheduler::SchedulerParts parts(World& world) {
    return {*store, *service, *world.clock, zones, default_tenant()};
  }

  const cron::ZoneDatabase zones;
  std::unique_ptr<Store> store;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Service> service;
};

void add_schedules(World& world, Process& process, int count, const std::string& expression) {
  scheduler::ScheduleRecords records = process.parts(world).records();
  Instant now = world.clock->now();
  ScheduleChange wanted;
  wanted.expression = expression;
  wanted.agent = "job";
  for (int i = 0; i < count; ++i) {
    std::string name = "s" + std::to_string(i);
    scheduler::TickDecision added{
        value_or_exit(scheduler::new_schedule(UserId("ana"), name, wanted, process.zones, now))};
    value_or_exit(block_on(*world.loop, records.save(std::move(added), 0)));
  }
}

void idle(World& world, const std::string& path) {
  int begun = 0;
  Graph<Job> graph = job_graph(begun);
  Process process(world, path, graph);
  add_schedules(world, process, idle_schedules, "0 0 29 2 *");
  Span span;
  for (int i = 0; i < idle_passes; ++i) {
    auto pass = scheduler::process_due_schedules(process.parts(world));
    value_or_exit(block_on(*world.loop, std::move(pass)));
  }
  span.stop();
  double per_pass = span.cpu / idle_passes;
  std::printf(
      "%d schedules, none due: %.0f us of processor time per pass, one pass per second: "
      "%.3f %% of a core\n",
      idle_schedules, per_pass * 1e6, per_pass * 100);
}

// "SECOND MINUTE HOUR * * *" in UTC.
std::string expression_at(Instant instant) {
  std::string text = to_text(instant);
  return text.substr(17, 2) + " " + text.substr(14, 2) + " " + text.substr(11, 2) + " * * *";
}

Task<Done> decide_each_second(scheduler::SchedulerParts parts) {
  while (true) {
    value_or_exit(co_await scheduler::process_due_schedules(parts));
    co_await sleep_for(scheduler::poll_interval);
  }
}

void due_together(World& world, const std::string& path) {
  int begun = 0;
  Graph<Job> graph = job_graph(begun);
  Process process(world, path, graph);
  Instant tick =
      std::chrono::ceil<std::chrono::seconds>(world.clock->now()) + std::chrono::seconds(20);
  add_schedules(world, process, due_schedules, expression_at(tick));
  if (world.clock->now() >= tick) exit_with("Adding the schedules took too long.");
  WorkerOptions working;
  working.runs_max = 64;
  std::function<void(Result<std::size_t>)> ended = [](Result<std::size_t>) {};
  std::function<void(Done)> never = [](Done) {};
  Spawned worker =
      spawn<Result<std::size_t>>(*world.loop, process.runtime->run_worker(working), ended);
  Spawned scheduler =
      spawn<Done>(*world.loop, decide_each_second(process.parts(world)), std::move(never));
  std::function<void()> look = [&] {
    bool is_late = world.clock->now() > tick + std::chrono::minutes(2);
    if (begun >= due_schedules || is_late) return world.loop->stop();
    world.loop->call_after(std::chrono::milliseconds(5), look);
  };
  world.loop->call_after(std::chrono::milliseconds(5), look);
  world.loop->run();
  std::chrono::duration<double> took = world.clock->now() - tick;
  std::printf("%d of %d schedules that fire in the same second have started after %.2f s\n", begun,
              due_schedules, took.count());
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  idle(world, place.path + "/idle.db");
  due_together(world, place.path + "/due.db");
  return 0;
}
