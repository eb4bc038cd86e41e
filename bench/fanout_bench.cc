// One node, a hundred branches, one node that joins them. Measures branches per second in memory,
// and the time of a run in which every branch is durable.

#include <cstdio>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int branches = 100;
constexpr int runs_in_memory = 200;
constexpr int runs_on_disk = 60;

struct Fan {
  std::vector<int> found{};
  int total = 0;
};

std::vector<Send> spread(const Fan&) {
  std::vector<Send> sends;
  for (int i = 0; i < branches; ++i) sends.push_back(send_to("branch", i));
  return sends;
}

Update<Fan> branch_of(const Context& context) {
  return append(&Fan::found, context.input<int>()).add(&Fan::total, 1);
}

Update<Fan> plain(const Fan&, Context& context) { return branch_of(context); }

// Yields once, so that all branches start before the first one ends; each is then committed
// separately.
Task<Update<Fan>> waits(const Fan&, Context& context) {
  co_await sleep_for(std::chrono::milliseconds(0));
  co_return branch_of(context);
}

Update<Fan> join(const Fan&, Context&) { return unchanged<Fan>(); }

template <typename Node>
Graph<Fan> fan_of(Node node) {
  GraphBuilder<Fan> graph{"fan"};
  graph.node("plan", join);
  graph.node("branch", node);
  graph.node("join", join);
  graph.edge(start, "plan").branch("plan", spread, {"branch"});
  graph.edge("branch", "join").edge("join", end);
  return value_or_exit(std::move(graph).build());
}

void run_once(World& world, Runtime& runtime, const Graph<Fan>& graph) {
  StartOptions options;
  auto view = value_or_exit(world.wait_for(runtime.start(graph, Fan{}, std::move(options))));
  if (view.state["total"] != Value(branches)) exit_with("A branch is missing.");
}

void in_memory(World& world, const Options& options, const char* what, const Graph<Fan>& graph) {
  std::vector<double> rates;
  for (int round = 0; round < options.rounds; ++round) {
    auto store = open_memory_store(*world.clock, *world.random);
    auto runtime = world.runtime(*store, graph);
    Span span;
    for (int i = 0; i < runs_in_memory; ++i) run_once(world, *runtime, graph);
    span.stop();
    rates.push_back(static_cast<double>(runs_in_memory) * branches / span.cpu);
  }
  std::printf("| in memory, %s | %.0f branches/s of one core | %.2f us CPU a branch |\n", what,
              median(rates), 1e6 / median(rates));
}

void on_disk(World& world, const Options& options, const std::string& directory, const char* what,
             const Graph<Fan>& graph) {
  std::vector<double> times, cpu, load;
  double wait_left = options.max_wait;
  for (int round = 0; round < options.rounds; ++round) {
    std::string path = directory + "/" + graph.name() + what[0] + std::to_string(round);
    auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
    auto runtime = world.runtime(*store, graph);
    wait_for_quiet(wait_left);
    Span span;
    for (int i = 0; i < runs_on_disk; ++i) {
      double began = wall_seconds();
      run_once(world, *runtime, graph);
      times.push_back((wall_seconds() - began) * 1e3);
    }
    span.stop();
    cpu.push_back(span.cpu * 1e6 / (runs_on_disk * branches));
    load.push_back(span.other_load);
  }
  std::printf(
      "| durable, %s | p50 %.2f ms, p99 %.2f ms a run | %.1f us CPU a branch, others' load "
      "%.2f, %.0f appends/s |\n",
      what, quantile(times, 0.5), quantile(times, 0.99), median(cpu), median(load),
      synced_appends_per_second(directory, 0.3));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf(
      "%s\n\n%d branches, then a join; %d rounds, one run at a time.\n\n| | | |\n|---|---|---|\n",
      description().c_str(), branches, options.rounds);
  Graph<Fan> plainly = fan_of(plain);
  Graph<Fan> waiting = fan_of(waits);
  in_memory(world, options, "plain functions", plainly);
  in_memory(world, options, "coroutines that wait", waiting);
  on_disk(world, options, place.path, "plain functions", plainly);
  on_disk(world, options, place.path, "coroutines that wait", waiting);
}
