// Measures goals on SQLite, with a model and a tool that take no time: a step of a run, compared
// with the same number of commits of a graph without work; and the memory of 500 runs that wait for
// a model.

#include <cstdio>

#include "agents/goals/planner.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/waiting_runs.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int runs = 40;
constexpr int steps = 20;

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

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  steps_of_goals(world, place);
  // A step and the summary each call the model.
  print_waiting_runs(world, place.path + "/waiting.db",
                     value_or_exit(goals::goal_graph({item_tool()})), goal_of(steps), 2,
                     "runs of goals");
  return 0;
}
