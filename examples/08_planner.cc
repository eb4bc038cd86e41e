// A goal instead of fixed edges: plans the next step, performs and records it, and plans again
// until the goal is reached or the maximum number of steps is used up.
//
//     $ 08_planner run --thread first --input goal="drink tea"
//     $ 08_planner run --thread second --input goal="drink tea" --input steps_left=2
//     $ 08_planner threads

#include <algorithm>
#include <belay/belay.hpp>
#include <map>
#include <string>
#include <vector>

using namespace belay;

struct Plan {
  std::string goal{};
  int steps_left = 10;
  std::string next{};  // empty: no step is left
  std::string seen{};  // result of the last step
  std::vector<std::string> done{};
};

// The steps that each step requires.
const std::map<std::string, std::vector<std::string>> needs = {
    {"drink tea", {"boil water", "find leaves"}},
    {"boil water", {"fill kettle"}},
    {"find leaves", {}},
    {"fill kettle", {}},
};

// Returns the first step towards `goal` that can be performed now: a pure function. A language
// model can replace it: see 04_tools.cc.
std::string step_towards(const std::string& goal, const std::vector<std::string>& done) {
  if (std::find(done.begin(), done.end(), goal) != done.end()) return "";
  for (const std::string& needed : needs.at(goal)) {
    if (auto step = step_towards(needed, done); !step.empty()) return step;
  }
  return goal;
}

Update<Plan> plan(const Plan& plan, Context& context) {
  auto next = step_towards(plan.goal, plan.done);
  bool is_stuck = !next.empty() && plan.steps_left == 0;
  context.outcome(is_stuck ? "out_of_steps" : "goal_reached");
  return set(&Plan::next, is_stuck ? "" : next);
}

Update<Plan> act(const Plan& plan, Context&) { return set(&Plan::seen, plan.next + ": done"); }

Update<Plan> record(const Plan& plan, Context&) {
  return append(&Plan::done, plan.next).add(&Plan::steps_left, -1);
}

Result<Graph<Plan>> planner_graph() {
  GraphBuilder<Plan> graph{"planner"};
  graph.node("plan", plan);
  graph.node("act", act);
  graph.node("record", record);
  graph.edge(start, "plan");
  graph.branch("plan", [](const Plan& plan) { return plan.next.empty(); }, {"act", end});
  graph.edge("act", "record").edge("record", "plan");
  return std::move(graph).build();
}

int main(int argc, char** argv) { return belay::main(argc, argv, planner_graph()); }
