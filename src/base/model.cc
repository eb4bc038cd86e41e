#include "belay/model.h"

#include "base/role_name.h"

namespace belay {

ModelRequest::ModelRequest(std::string purpose_name, std::vector<Message> prompt, Value schema,
                           Value material)
    : purpose(std::move(purpose_name)),
      messages(std::move(prompt)),
      response_schema(std::move(schema)),
      input(std::move(material)) {}

void AnswerVerdict::when_given(std::function<void(bool accepted)> then) {
  if (given_) then(*given_);
  waiting_.push_back(std::move(then));
}

void AnswerVerdict::give(bool accepted) {
  bool is_news = !given_ || (*given_ && !accepted);
  if (!is_news) return;
  given_ = accepted;
  for (const auto& then : waiting_) then(accepted);
}

std::optional<ModelPrice> Model::price(const ModelRequest&) const { return std::nullopt; }

std::int64_t Model::input_tokens_max(const ModelRequest& request) const {
  constexpr std::size_t frame = 16;  // tokens that a provider adds for each message
  std::size_t bytes = frame;
  for (const Message& message : request.messages) {
    bytes += message.text.size() + frame;
    for (const ToolCall& call : message.tool_calls) {
      bytes += call.id.size() + call.name.size() + to_json(call.arguments).size() + frame;
    }
  }
  for (const ToolDefinition& tool : request.tools) {
    bytes += tool.name.size() + tool.description.size() + to_json(tool.parameters).size() + frame;
  }
  if (!request.response_schema.is_null()) bytes += to_json(request.response_schema).size();
  return static_cast<std::int64_t>(bytes);
}

Task<Result<std::string>> Model::complete(std::string prompt) {
  Message message{Role::user, std::move(prompt)};
  ModelRequest request;
  request.messages.push_back(std::move(message));
  auto reply = co_await generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  co_return std::move(reply->text);
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

}  // namespace belay
