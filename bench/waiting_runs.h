#pragma once
// bench/waiting_runs.h - the memory of many runs that wait for a model at the same time.

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/pages.h"

namespace belay::bench {

inline constexpr int waiting_runs = 500;

// Waits before it answers, as a slow language model does.
class SlowModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    ++waiting;
    co_await sleep_for(std::chrono::seconds(3));
    ModelReply reply;
    reply.text = "done";
    reply.provider = "bench";
    co_return reply;
  }
  int waiting = 0;
};

// Starts `waiting_runs` runs of the graph on a new SQLite store, and prints the resident memory
// when all wait, and without them. Ends the program unless each has called the model `calls` times.
// `what`: the runs, in the plural.
template <typename State>
void print_waiting_runs(World& world, const std::string& path, const Graph<State>& graph,
                        const State& input, int calls, const char* what) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  SlowModel model;
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  runtime->add(graph);
  double before = resident_bytes();
  double highest = 0;
  int ended = 0;
  std::vector<Spawned> all(waiting_runs);
  std::function<void(Result<RunView>)> done = [&](Result<RunView> view) {
    if (!view.ok()) exit_with(view.error().message);
    if (ended++ == 0) highest = resident_bytes();
    if (ended == waiting_runs) world.loop->stop();
  };
  world.loop->post([&] {
    for (Spawned& one : all) {
      State state = input;
      auto started = runtime->start(graph, std::move(state), StartOptions());
      one = spawn<Result<RunView>>(*world.loop, std::move(started), done);
    }
  });
  world.loop->run();
  if (model.waiting != calls * waiting_runs) exit_with("Not all runs waited for the model.");
  std::printf("%d %s that wait for a model: %.1f MB in all, %.1f MB without them\n", waiting_runs,
              what, highest / 1e6, before / 1e6);
}

}  // namespace belay::bench
