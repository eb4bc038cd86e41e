// Measures goals on SQLite, with a model and a tool that take no time: a step of a run, compared
// with the same number of commits of a graph without work; and the memory of 500 runs that wait for
// a model.

#include <cstdio>

#include "agents/goals/planner.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int runs = 40;
constexpr int steps = 20;
constexpr int waiting_runs = 500;

struct Item {
  int number = 0;
};

Tool item_tool() {
  return make_tool<Item>(
      {.name = "item", .description = "Returns an item.", .effect = ToolEffect::reads},
      [](const Item& item, ToolContext&) { return "item " + std::to_string(item.number); });
}

// Requests one call in each step of the budget.
class PlanningModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ModelReply reply;
    reply.provider = "bench";
    reply.text = "The next item is necessary.";
    if (request.purpose == goals::kPlanPurpose) {
      reply.stop_reason = StopReason::tool_calls;
      reply.tool_calls.push_back({"call", "item", Value::object({{"number", 1}})});
    }
    co_return reply;
  }
};

// Waits before it answers, as a slow language model does.
class WaitingModel final : public Model {
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

struct Count {
  int to = 0;
  int done = 0;
};

// A cycle whose node is one commit.
Graph<Count> counting_graph() {
  GraphBuilder<Count> graph{"count"};
  graph.node("count", [](const Count&, Context&) { return add(&Count::done, 1); });
  auto has_more = [](const Count& count) { return count.done < count.to; };
  graph.edge(start, "count").branch("count", has_more, {end, "count"});
  return value_or_exit(std::move(graph).build());
}

goals::GoalRun goal_of(int budget) {
  goals::GoalRun run;
  run.goal.id = "bench";
  run.goal.objective = "Collect the items";
  run.goal.params.stepBudget = budget;
  return run;
}

struct Measured {
  // Of one run.
  double microseconds = 0;
  double processor = 0;  // likewise, processor time
  double commits = 0;
};

template <typename State>
Measured time_of(World& world, const std::string& path, Model& model, const Graph<State>& graph,
                 const State& input) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  runtime->add(graph);
  Measured measured;
  Span span;
  for (int i = 0; i < runs; ++i) {
    State state = input;
    RunView view = value_or_exit(
        block_on(*world.loop, runtime->start(graph, std::move(state), StartOptions())));
    if (view.row.status != RunStatus::completed) exit_with("A run did not complete.");
    measured.commits += static_cast<double>(view.row.seq) / runs;
  }
  span.stop();
  measured.microseconds = span.seconds * 1e6 / runs;
  measured.processor = span.cpu * 1e6 / runs;
  return measured;
}

void steps_of_goals(World& world, const Workplace& place) {
  PlanningModel model;
  auto graph = value_or_exit(goals::goal_graph({item_tool()}));
  Measured goal = time_of(world, place.path + "/goal.db", model, graph, goal_of(steps));
  Count count{static_cast<int>(goal.commits), 0};
  Measured bare = time_of(world, place.path + "/count.db", model, counting_graph(), count);
  auto print = [&](const char* what, double of_goal, double of_bare) {
    double of_commit = of_bare / bare.commits;
    std::printf(
        "%s: %.0f us per step; %.0f us per commit without work; beyond the commits %.0f us\n", what,
        of_goal / steps, of_commit, (of_goal - goal.commits * of_commit) / steps);
  };
  std::printf("A goal of %d steps with a call each: %.0f commits\n", steps, goal.commits);
  print("time", goal.microseconds, bare.microseconds);
  print("processor time", goal.processor, bare.processor);
}

void waiting_goals(World& world, const std::string& path) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  WaitingModel model;
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  auto graph = value_or_exit(goals::goal_graph({item_tool()}));
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
      auto started = runtime->start(graph, goal_of(steps), StartOptions());
      one = spawn<Result<RunView>>(*world.loop, std::move(started), done);
    }
  });
  world.loop->run();
  if (model.waiting < waiting_runs) exit_with("Not all goals waited for the model.");
  std::printf("%d runs of goals that wait for a model: %.1f MB in all, %.1f MB without them\n",
              waiting_runs, highest / 1e6, before / 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  steps_of_goals(world, place);
  waiting_goals(world, place.path + "/waiting.db");
  return 0;
}
