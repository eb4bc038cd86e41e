// Calls of agents: each is a subgraph, whose question is an argument of the call.

#include <algorithm>

#include "agents/goals/characters.h"
#include "agents/goals/planner_nodes.h"

namespace belay::goals {
namespace {

constexpr std::int64_t kAnswerMax = 100'000;  // characters

}  // namespace

std::string node_of_calls(const Planner& planner, std::string_view name) {
  auto has_name = [&](const SubAgent& agent) { return agent.name == name; };
  bool is_agent = std::any_of(planner.agents.begin(), planner.agents.end(), has_name);
  return is_agent ? "agent_" + std::string(name) : "act";
}

AgentState question_of_call(const GoalRun& state, const Value& position) {
  std::string id = *position.as_string();
  std::string question;
  for (std::size_t i = 0; i < state.calls.size(); ++i) {
    if (std::to_string(i) != id) continue;
    const std::string* text = state.calls[i].call.arguments["question"].as_string();
    if (text) question = *text;
  }
  return sub_agent_input(std::move(id), std::move(question), state.untrusted);
}

Update<GoalRun> answer_of_call(const AgentState& agent) {
  EndedCall ended;
  ended.text = first_characters(storable_text(agent.answer), kAnswerMax);
  ended.characters = count_characters(ended.text);
  ended.untrusted = is_untrusted(agent);
  std::int64_t tokens = agent.usage.input_tokens + agent.usage.output_tokens + agent.agent_tokens;
  return merge(&GoalRun::results, agent.call, std::move(ended)).add(&GoalRun::tokens, tokens);
}

}  // namespace belay::goals
