#include "agents/assistant/assistant.h"

#include <chrono>

namespace belay::assistant {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::minutes kModelTimeout{10};

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

ModelRequest request_for(const Conversation& conversation) {
  ModelRequest request;
  if (!conversation.instructions.empty()) {
    request.messages.push_back({Role::system, conversation.instructions});
  }
  const std::vector<ConversationMessage>& earlier = conversation.messages;
  for (std::size_t i = first_sent(earlier); i < earlier.size(); ++i) {
    Role role = earlier[i].role == kUser ? Role::user : Role::assistant;
    request.messages.push_back({role, earlier[i].text});
  }
  request.messages.push_back({Role::user, conversation.question});
  return request;
}

Task<Result<Update<Conversation>>> answer(const Conversation& conversation, Context& context) {
  if (conversation.question.empty()) {
    co_return error(ErrorCode::invalid, "Missing question. Provide one as \"question\".");
  }
  ModelRequest request = request_for(conversation);
  request.on_text_delta = [&context](std::string_view piece) { context.stream(piece); };
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  if (reply->stop_reason == StopReason::refused) {
    co_return error(ErrorCode::invalid, "The model " + reply->model + " would not answer.");
  }
  context.outcome("answered");
  co_return set(&Conversation::answer, std::move(reply->text))
      .set(&Conversation::provider, std::move(reply->provider))
      .set(&Conversation::model, std::move(reply->model))
      .set(&Conversation::notice, std::move(reply->notice))
      .set(&Conversation::truncated, reply->stop_reason == StopReason::length)
      .set(&Conversation::approved, false);
}

Update<Conversation> remember(const Conversation& conversation, Context&) {
  return append(&Conversation::messages,
                ConversationMessage{std::string(kUser), conversation.question})
      .append(&Conversation::messages,
              ConversationMessage{std::string(kAnswerer), conversation.answer});
}

}  // namespace

Result<Graph<Conversation>> assistant() {
  GraphBuilder<Conversation> graph{std::string(kAssistant)};
  graph.node("answer", answer).retry({.attempts = kAttempts}).timeout(kModelTimeout);
  graph.approval("review", &Conversation::answer, {.question = "Is this answer fit to be used?"})
      .when([](const Conversation& conversation) { return conversation.review; })
      .decision_flag(&Conversation::approved)
      .approved("remember")
      .rejected(end);
  graph.node("remember", remember);
  graph.edge(start, "answer").edge("answer", "review").edge("remember", end);
  // Earlier versions had no messages: their runs continue without any.
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay::assistant
