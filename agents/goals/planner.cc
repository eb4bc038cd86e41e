#include "agents/goals/planner.h"

#include <algorithm>

#include "agents/goals/planner_nodes.h"

namespace belay::goals {
namespace {

using std::chrono::minutes;

constexpr minutes kModelTimeout{10};

RetryPolicy retry_of_calls(const ToolRegistry& tools) {
  RetryPolicy policy;
  for (const Tool& tool : tools.all()) {
    policy.attempts = std::max(policy.attempts, tool.options().attempts);
  }
  return policy;
}

std::string question_about(const GoalRun& state) {
  const TokenQuestion& question = state.question;
  return "The goal has used " + std::to_string(question.tokens) + " tokens; its limit is " +
         std::to_string(question.limit) + ". Continue with " + std::to_string(question.adds) +
         " more?";
}

Result<Done> check_edit(const GoalRun& state) {
  if (state.question.adds >= 1 && state.question.adds <= limits::budget_max) return Done{};
  return error(ErrorCode::invalid, "Invalid \"adds\": expected a number of tokens from 1.");
}

Result<Done> add_agents(GraphBuilder<GoalRun>& graph, const Planner& planner) {
  for (const SubAgent& agent : planner.agents) {
    BELAY_TRY(Graph<AgentState> inner, sub_agent_graph(agent));
    std::string node = node_of_calls(planner, agent.name);
    graph.subgraph(node, inner, question_of_call, answer_of_call);
    graph.edge(node, "record");
  }
  return Done{};
}

void add_nodes(GraphBuilder<GoalRun>& graph, const SharedPlanner& planner) {
  std::vector<std::string> names{"act", "record", "summarize"};
  for (const SubAgent& agent : planner->agents) {
    names.push_back(node_of_calls(*planner, agent.name));
  }
  graph.node("begin", begin_run).destinations({"plan"});
  graph
      .node("plan", [planner](const GoalRun& state,
                              Context& context) { return plan_step(planner, state, context); })
      .retry({.attempts = kModelAttempts})
      .timeout(kModelTimeout)
      .destinations({names.begin(), names.end()});
  graph
      .node("act", [planner](const GoalRun& state,
                             Context& context) { return call_planned(planner, state, context); })
      .retry(retry_of_calls(planner->tools));
  graph.node("record", record_step).destinations({"plan", "confirm", "summarize"});
  graph.approval("confirm", &GoalRun::question, {.question = "The goal has used its tokens."})
      .question(question_about)
      .validate(check_edit)
      .approved("extend")
      .rejected("summarize");
  graph.node("extend", extend_limit);
  // One attempt more than the model has: it writes the summary without the model.
  graph
      .node("summarize", [planner](const GoalRun& state,
                                   Context& context) { return summarize(planner, state, context); })
      .retry({.attempts = kModelAttempts + 1})
      .timeout(kModelTimeout)
      .destinations({"plan"});
  graph.node(finish_node, finish_run).destinations({"plan"});
}

}  // namespace

Result<Graph<GoalRun>> goal_graph(std::vector<Tool> tools, std::vector<SubAgent> agents) {
  auto planner = std::make_shared<Planner>();
  for (Tool& tool : tools) BELAY_CHECK(planner->tools.add(std::move(tool)));
  BELAY_CHECK(planner->tools.add(read_result_tool()));
  for (const SubAgent& agent : agents) BELAY_CHECK(planner->tools.add(sub_agent_tool(agent)));
  planner->agents = std::move(agents);
  GraphBuilder<GoalRun> graph{std::string(kGoalGraph)};
  graph.describe("Plans and executes steps with tools until an objective is reached.");
  graph.material("model", "");  // the default one of the program
  add_nodes(graph, planner);
  BELAY_CHECK(add_agents(graph, *planner));
  graph.edge(start, "begin").edge("begin", end).edge("plan", "record");
  graph.edge("act", "record").edge("record", "plan").edge("extend", "plan");
  graph.edge("summarize", finish_node).edge(finish_node, end);
  graph.accept_older_versions();
  return std::move(graph).build();
}

std::vector<ToolDefinition> tools_of(const ToolRegistry& tools, const GoalParams& params) {
  std::vector<ToolDefinition> allowed;
  for (const Tool& tool : tools.all()) {
    const std::vector<std::string>& names = params.allowedTools;
    bool is_named = std::find(names.begin(), names.end(), tool.name()) != names.end();
    if (names.empty() || is_named || tool.name() == kReadResult) {
      allowed.push_back(tool.definition());
    }
  }
  return allowed;
}

bool ends_with(const std::vector<PlannedCall>& calls, int steps_remaining) {
  return calls.empty() || steps_remaining <= 0;
}

}  // namespace belay::goals
