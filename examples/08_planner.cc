// A goal instead of fixed edges: an agent whose model plans. It performs the steps that are
// possible now, in parallel, and plans again with their results, until the goal is reached or the
// maximum number of model calls is used up.
//
//     $ 08_planner run --thread first --input goal="drink tea"
//     $ 08_planner run --thread second --input goal="wash up"
//     $ 08_planner threads

#include <algorithm>
#include <belay/belay.hpp>
#include <map>
#include <string>
#include <vector>

using namespace belay;

struct Step {
  std::string name{};
  static void describe(Described<Step>& arguments) {
    arguments.member(&Step::name).text("The step to perform").length(1, 80);
  }
};

// Two calls with one key are one step: after a crash, it is repeated with the same key.
Tool perform() {
  return make_tool<Step>(
      {.name = "perform", .description = "Performs a step.", .effect = ToolEffect::keyed},
      [](const Step& step, ToolContext&) { return step.name + ": done"; });
}

// The steps that each step requires.
const std::map<std::string, std::vector<std::string>> needs = {
    {"wash up", {"serve breakfast"}},
    {"serve breakfast", {"drink tea", "toast bread"}},
    {"drink tea", {"boil water", "find leaves"}},
    {"boil water", {"fill kettle"}},
    {"toast bread", {"cut bread"}},
    {"find leaves", {}},
    {"fill kettle", {}},
    {"cut bread", {}},
};

using Steps = std::vector<std::string>;

bool contains(const Steps& steps, const std::string& step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

// Adds the steps towards `goal` that can be performed now.
void plan(const std::string& goal, const Steps& done, Steps& next) {
  if (contains(done, goal) || contains(next, goal)) return;
  std::size_t before = next.size();
  bool is_ready = true;
  for (const std::string& needed : needs.at(goal)) {
    is_ready = is_ready && contains(done, needed);
    plan(needed, done, next);
  }
  if (is_ready && next.size() == before) next.push_back(goal);
}

// Plans by the table: a language model in its place receives the same requests.
class Planner final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    std::string goal;
    Steps done;
    for (const Message& message : request.messages) {
      if (message.role == Role::user && goal.empty()) goal = message.text;
      for (const ToolCall& call : message.tool_calls) {
        done.push_back(*call.arguments["name"].as_string());
      }
    }
    Steps next;
    if (needs.count(goal) > 0) plan(goal, done, next);
    ModelReply reply;
    reply.provider = "planner";
    bool is_last_call = request.messages.back().role == Role::user && !done.empty();
    if (next.empty()) {
      reply.text = needs.count(goal) > 0 ? "The goal is reached." : "The goal is not known.";
    } else if (is_last_call) {
      reply.text = "Out of steps; the next one would be: " + next.front() + ".";
    } else {
      for (const std::string& step : next) {
        reply.tool_calls.push_back({step, "perform", Value::object({{"name", step}})});
      }
      reply.stop_reason = StopReason::tool_calls;
    }
    co_return reply;
  }
};

struct Plan {
  std::string goal{};
  std::string report{};
  std::vector<std::string> done{};
};

Update<Plan> report_of(const AgentState& agent) {
  Steps done;
  for (const AgentTurn& turn : agent.turns) {
    for (const AgentCall& each : turn.calls) {
      done.push_back(*each.call.arguments["name"].as_string());
    }
  }
  return set(&Plan::report, agent.answer).set(&Plan::done, done);
}

Result<Graph<Plan>> planner_graph() {
  AgentOptions options;
  options.prompt = "Reach the goal step by step.";
  options.tools = {perform()};
  options.steps_max = 5;
  GraphBuilder<Plan> graph{"planner"};
  graph.agent("plan", options, &Plan::goal, report_of);
  graph.edge(start, "plan").edge("plan", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) {
  MainOptions options;
  options.model = std::make_shared<Planner>();
  return belay::main(argc, argv, options, planner_graph());
}
