#pragma once
// driver/superstep_world.h - graphs of several tasks a superstep in a simulated world, for tests.

#include <gtest/gtest.h>

#include "driver/halting_store.h"
#include "driver/test_world.h"

namespace belay {

using namespace std::chrono_literals;

struct Plan {
  std::string title{};
  std::vector<std::string> log{};
  std::map<std::string, int> sizes{};
  int total = 0;
  std::string best{};
  int cache = 0;
};

struct Supersteps : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> kept = open_memory_store(clock, random);
  HaltingStore store{*kept};
  std::map<std::string, int> visits;

  std::unique_ptr<Runtime> process() {
    return Runtime::open(RuntimeParts{store, loop, clock, random, model}).value();
  }

  // Plain nodes that append their name to the log, and count their visits.
  auto logs(std::string name) {
    return [this, name](const Plan&, Context&) {
      ++visits[name];
      return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }
  // The same, but each takes a while.
  auto logs_after(std::string name, std::chrono::milliseconds time) {
    return [this, name, time](const Plan&, Context&) -> Task<Update<Plan>> {
      ++visits[name];
      co_await sleep_for(time);
      co_return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }

  Result<RunView> run(const Graph<Plan>& graph, Plan plan = {}, StartOptions options = {}) {
    auto runtime = process();
    runtime->add(graph);
    return block_on(loop, runtime->start(graph, std::move(plan), std::move(options)));
  }

  // Runs the graph in a process that dies at its n-th commit, then in another that goes on.
  Result<RunView> run_with_crash(const Graph<Plan>& graph, int commit, bool lands,
                                 RunOptions options = {}) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = lands;
    auto first = process();
    first->add(graph);
    StartOptions start_options;
    start_options.thread = ThreadId("t" + std::to_string(commit) + (lands ? "+" : "-"));
    start_options.run = options;
    std::optional<Result<RunView>> ended;
    Spawned spawned;
    loop.post([&] {
      spawned = spawn<Result<RunView>>(loop, first->start(graph, Plan{}, start_options),
                                       [&](Result<RunView> view) { ended = std::move(view); });
    });
    loop.run_until(clock.now() + 1h);
    store.halt_at = 0;
    if (ended) return *std::move(ended);
    spawned.reset();
    first.reset();
    auto second = process();
    second->add(graph);
    return block_on(loop, second->start(graph, Plan{}, start_options));
  }

  static Graph<Plan> built(GraphBuilder<Plan> graph) {
    auto result = std::move(graph).build();
    if (!result.ok()) ADD_FAILURE() << result.error().message;
    return *std::move(result);
  }

  Graph<Plan> fan_out() {
    GraphBuilder<Plan> graph{"fan"};
    graph.node("split", logs("split"));
    graph.node("a", logs_after("a", 30ms));
    graph.node("b", logs_after("b", 10ms));
    graph.node("c", logs_after("c", 20ms));
    graph.node("join", logs("join"));
    graph.edge(start, "split").edge("split", "a").edge("split", "b").edge("split", "c");
    graph.edge("a", "join").edge("b", "join").edge("c", "join").edge("join", end);
    return built(std::move(graph));
  }
};

inline std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& each : *list.as_array()) found.push_back(*each.as_string());
  return found;
}

}  // namespace belay
