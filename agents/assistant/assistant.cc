#include "agents/assistant/assistant.h"

namespace belay::assistant {
namespace {

constexpr std::string_view kUser = "user";
constexpr std::string_view kAnswerer = "assistant";

// The index of the first message to send: the newest ones within the bound, from a question on.
std::size_t first_sent(const std::vector<ConversationMessage>& messages) {
  std::size_t first = messages.size();
  std::size_t bytes = 0;
  while (first > 0 && bytes + messages[first - 1].text.size() <= kMessageBytesMax) {
    bytes += messages[--first].text.size();
  }
  while (first < messages.size() && messages[first].role != kUser) ++first;
  return first;
}

AgentState agent_state(const Conversation& conversation) {
  AgentState state;
  state.question = conversation.question;
  state.instructions = conversation.instructions;
  const std::vector<ConversationMessage>& earlier = conversation.messages;
  for (std::size_t i = first_sent(earlier); i < earlier.size(); ++i) {
    AgentTurn turn;
    (earlier[i].role == kUser ? turn.question : turn.text) = earlier[i].text;
    state.turns.push_back(std::move(turn));
  }
  return state;
}

Update<Conversation> take_answer(const AgentState& state) {
  std::string answer_id = state.turns.empty() ? std::string() : state.turns.back().message_id;
  return set(&Conversation::answer, state.answer)
      .set(&Conversation::answer_id, std::move(answer_id))
      .set(&Conversation::provider, state.provider)
      .set(&Conversation::model, state.model)
      .set(&Conversation::notice, state.notice)
      .set(&Conversation::truncated, state.truncated)
      .set(&Conversation::approved, false);
}

Update<Conversation> remember(const Conversation& conversation, Context& context) {
  context.outcome("answered");
  return append(
             &Conversation::messages,
             ConversationMessage{std::string(kUser), conversation.question, question_id(context)})
      .append(
          &Conversation::messages,
          ConversationMessage{std::string(kAnswerer), conversation.answer, conversation.answer_id});
}

}  // namespace

Result<Graph<Conversation>> assistant(std::vector<Tool> tools) {
  AgentOptions options;
  options.tools = std::move(tools);
  BELAY_TRY(auto agent, agent_graph("answer", std::move(options)));
  GraphBuilder<Conversation> graph{std::string(kAssistant)};
  graph.describe("Answers a question, with the tools that its settings permit.");
  graph.subgraph("answer", agent, agent_state, take_answer);
  graph.approval("review", &Conversation::answer, {.question = "Is this answer fit to be used?"})
      .when([](const Conversation& conversation) { return conversation.review; })
      .decision_flag(&Conversation::approved)
      .approved("remember")
      .rejected(end);
  graph.node("remember", remember);
  graph.edge(start, "answer").edge("answer", "review").edge("remember", end);
  // Earlier versions had no messages and no answer_id: their runs continue without any.
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay::assistant
