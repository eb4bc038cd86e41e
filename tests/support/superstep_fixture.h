#pragma once
// tests/support/superstep_fixture.h - test fixture with graphs whose supersteps have several tasks.

#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

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

struct Supersteps : CrashingStoreFixture {
  std::map<std::string, int> visits;

  // Returns a plain node that appends its name to the log and counts its executions.
  auto logs(std::string name) {
    return [this, name](const Plan&, Context&) {
      ++visits[name];
      return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }
  // The same as a coroutine that takes `time`.
  auto logs_after(std::string name, std::chrono::milliseconds time) {
    return [this, name, time](const Plan&, Context&) -> Task<Update<Plan>> {
      ++visits[name];
      co_await sleep_for(time);
      co_return append(&Plan::log, name).merge(&Plan::sizes, name, 1).add(&Plan::total, 1);
    };
  }

  Result<RunView> run(const Graph<Plan>& graph, Plan plan = {}, StartOptions options = {}) {
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, std::move(plan), std::move(options)));
  }

  static Graph<Plan> built(GraphBuilder<Plan> graph) {
    auto result = std::move(graph).build();
    if (!result.ok()) ADD_FAILURE() << result.error().message;
    return *std::move(result);
  }

  Graph<Plan> fan_out() {
    GraphBuilder<Plan> graph{"fan"};
    graph.one_run_per_thread();
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
