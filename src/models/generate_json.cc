// Repeats a model call, with the fault of the reply added to the prompt, until a reply matches the
// schema; at most repairs_max times.

#include "base/trimmed.h"
#include "base/usage_sum.h"
#include "belay/models.h"
#include "models/json_answer.h"
#include "models/json_sanitizer.h"

namespace belay {
namespace {

constexpr int repairs_max = 2;
// The part of an invalid reply that is returned to the model: enough for a correction, and not more
// than a model can read.
constexpr std::size_t returned_bytes_max = 64 * 1024;

std::string shortened(const std::string& text) {
  if (text.size() <= returned_bytes_max) return text;
  return models::sanitized_text(text.substr(0, returned_bytes_max)) + "...";
}

// Appends the reply and a description of its fault to the conversation.
void ask_for_repair(const ModelReply& reply, const std::string& fault, ModelRequest& request) {
  if (!trimmed(reply.text).empty()) {
    request.messages.push_back({Role::assistant, shortened(reply.text)});
  }
  request.messages.push_back(
      {Role::user,
       "Your answer can't be used: " + fault +
           ". Answer once more, with the whole JSON text alone and nothing around it."});
}

std::optional<Usage> sum_of(const std::optional<Usage>& one, const std::optional<Usage>& other) {
  if (!one || !other) return std::nullopt;
  return sum(*one, *other);
}

}  // namespace

namespace models {

std::string_view without_fence(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view fence = "```";
  std::size_t line_end = text.find('\n');
  bool is_fenced = text.starts_with(fence) && text.ends_with(fence) && line_end != text.npos &&
                   line_end + fence.size() < text.size();
  if (!is_fenced) return text;
  text.remove_suffix(fence.size());
  return trimmed(text.substr(line_end + 1));
}

std::optional<std::string> json_fault(const ModelReply& reply, const Value& schema) {
  if (reply.stop_reason == StopReason::length)
    return "it was cut at its greatest length; say it shorter";
  std::string_view text = without_fence(reply.text);
  if (text.empty()) return "it was empty";
  auto value = parse_sanitized_json(text, limits::json_depth_max);
  if (!value.ok()) return "it is no JSON text: " + value.error().message;
  return schema_violation(schema, *value);
}

}  // namespace models

Task<Result<ModelReply>> generate_json(Model& model, ModelRequest request) {
  auto tell = std::exchange(request.on_text_delta, nullptr);
  std::optional<Usage> usage = Usage{};
  std::string fault;
  for (int attempt = 0; attempt <= repairs_max; ++attempt) {
    ModelRequest one = request;
    auto verdict = one.verdict = std::make_shared<AnswerVerdict>();
    if (request.verdict) {
      request.verdict->when_given(
          [verdict](bool accepted) { accepted ? verdict->accept() : verdict->refuse(); });
    }
    auto reply = co_await model.generate(std::move(one));
    if (!reply.ok()) co_return std::move(reply).error();
    usage = sum_of(usage, reply->usage);
    reply->usage = usage;
    if (reply->stop_reason == StopReason::tool_calls) co_return std::move(reply);
    if (reply->stop_reason == StopReason::refused) {
      co_return error(ErrorCode::invalid,
                      "Invalid LLM response format: the model, or its provider, would not answer "
                      "this: " +
                          models::quotable(reply->text, 200));
    }
    std::string text(models::without_fence(reply->text));
    auto wrong = models::json_fault(*reply, request.response_schema);
    if (wrong) verdict->refuse();
    if (!wrong) {
      verdict->accept();
      reply->text = std::move(text);
      if (tell) tell(reply->text);
      co_return std::move(reply);
    }
    fault = models::quotable(*wrong, 500);
    ask_for_repair(*reply, fault, request);
  }
  co_return error(ErrorCode::unavailable, "Invalid LLM response format: " + fault +
                                              ", also after " + std::to_string(repairs_max) +
                                              " requests to repair it.");
}

}  // namespace belay
