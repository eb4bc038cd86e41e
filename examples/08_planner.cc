// A goal instead of fixed edges: an agent whose model plans. It performs the steps that are
// possible now, in parallel, and plans again with their results.
//
//     $ 08_planner run --thread first --input goal="drink tea"
//     $ 08_planner run --thread second --input goal="wash up"
//     $ 08_planner threads

#include <belay/testing.h>

#include <belay/belay.hpp>
#include <map>
#include <set>

using namespace belay;
using Steps = std::set<std::string>;

struct Step {
  std::string name{};
};

Tool perform() {
  return make_tool<Step>(
      {.name = "perform", .description = "Performs a step.", .effect = ToolEffect::keyed},
      [](const Step& step, ToolContext&) { return step.name + ": done"; });
}

// The steps that each step requires.
const std::map<std::string, Steps> needs = {
    {"wash up", {"serve breakfast"}}, {"serve breakfast", {"drink tea", "toast bread"}},
    {"boil water", {"fill kettle"}},  {"drink tea", {"boil water", "find leaves"}},
    {"toast bread", {"cut bread"}},
};

// Adds the steps towards `goal` that can be performed now.
void plan(const std::string& goal, const Steps& done, Steps& next) {
  if (done.count(goal) > 0) return;
  bool is_ready = true;
  for (const std::string& needed : needs.count(goal) > 0 ? needs.at(goal) : Steps()) {
    is_ready = is_ready && done.count(needed) > 0;
    plan(needed, done, next);
  }
  if (is_ready) next.insert(goal);
}

// Replaces a language model, which receives the same requests.
ModelReply planned(const ModelRequest& request) {
  Steps done, next;
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.tool_calls)
      done.insert(*call.arguments["name"].as_string());
  }
  plan(request.messages[1].text, done, next);
  ModelReply reply;
  // After the maximum number of calls, the last message asks for an answer.
  bool is_last = request.messages.back().role == Role::user && !done.empty();
  reply.text = next.empty() ? "The goal is reached." : is_last ? "Out of steps." : "";
  for (const std::string& step : is_last ? Steps() : next) {
    reply.tool_calls.push_back({"", "perform", Value::object({{"name", step}})});
  }
  return reply;
}

struct Plan {
  std::string goal{};
  std::string report{};
};

Result<Graph<Plan>> planner_graph() {
  AgentOptions options{.prompt = "Reach the goal.", .tools = {perform()}, .steps_max = 5};
  GraphBuilder<Plan> graph{"planner"};
  graph.agent("plan", options, &Plan::goal, &Plan::report);
  graph.edge(start, "plan").edge("plan", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) {
  MainOptions options;
  options.model = std::make_shared<testing::ScriptedModel>(testing::replies_with(planned));
  return belay::main(argc, argv, options, planner_graph());
}
