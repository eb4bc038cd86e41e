#include "agents/assistant/assistant.h"

#include <chrono>

namespace belay::assistant {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::minutes kModelTimeout{10};

ModelRequest request_for(const Conversation& conversation) {
  ModelRequest request;
  if (!conversation.instructions.empty()) {
    request.messages.push_back({Role::system, conversation.instructions});
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
      .set(&Conversation::truncated, reply->stop_reason == StopReason::length);
}

}  // namespace

Result<Graph<Conversation>> assistant() {
  GraphBuilder<Conversation> graph{std::string(kAssistant)};
  graph.node("answer", answer).retry({.attempts = kAttempts}).timeout(kModelTimeout);
  graph.approval("review", &Conversation::answer, {.question = "Is this answer fit to be used?"})
      .when([](const Conversation& conversation) { return conversation.review; })
      .decision_flag(&Conversation::approved)
      .approved(end)
      .rejected(end);
  graph.edge(start, "answer").edge("answer", "review");
  return std::move(graph).build();
}

}  // namespace belay::assistant
