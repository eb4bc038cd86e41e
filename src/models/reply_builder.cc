#include "models/reply_builder.h"

#include <algorithm>
#include <set>

#include "models/json_sanitizer.h"

namespace belay::models {
namespace {

// Larger than any call; small enough to be multiplied by a price without an overflow.
constexpr std::int64_t tokens_max = 100'000'000;
constexpr std::size_t model_name_max = 200;

// Returns the arguments as an object, or as a string if the model did not write a JSON object.
Value arguments_of(ToolCallBuilder& call) {
  if (call.object) return *std::move(call.object);
  if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Value(Value::Object());
  }
  auto read = parse_sanitized_json(call.arguments, limits::json_depth_max - 8);
  if (read.ok() && read->as_object()) return *std::move(read);
  return Value(sanitized_text(call.arguments));
}

}  // namespace

std::optional<std::int64_t> token_count(const Value& count) {
  auto number = count.as_int();
  if (!number || *number < 0 || *number > tokens_max) return std::nullopt;
  return number;
}

Result<Done> ReplyBuilder::count(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= options_.reply_bytes_max) return Done{};
  return error(ErrorCode::exhausted, server_.who() + " returned more than " +
                                         std::to_string(options_.reply_bytes_max) +
                                         " bytes. The rest was not read.");
}

Result<Done> ReplyBuilder::add_text(std::string_view piece) {
  if (piece.empty()) return Done{};
  BELAY_CHECK(count(piece.size()));
  text_ += piece;
  if (options_.on_text_delta) options_.on_text_delta(piece);
  return Done{};
}

Result<Done> ReplyBuilder::add_refusal(std::string_view piece) {
  BELAY_CHECK(count(piece.size()));
  refusal_ += piece;
  return Done{};
}

Result<ToolCallBuilder*> ReplyBuilder::add_call() {
  if (calls_.size() == calls_max) {
    return error(ErrorCode::exhausted, server_.who() + " requested more than " +
                                           std::to_string(calls_max) + " calls in one reply.");
  }
  calls_.emplace_back();
  return &calls_.back();
}

Result<Done> ReplyBuilder::add_arguments(ToolCallBuilder& call, std::string_view piece) {
  BELAY_CHECK(count(piece.size()));
  call.arguments += piece;
  return Done{};
}

void ReplyBuilder::set_model(const Value& name) {
  const std::string* text = name.as_string();
  if (text && model_.empty() && text->size() <= model_name_max) model_ = *text;
}

void ReplyBuilder::set_input_tokens(const Value& count) {
  if (auto number = token_count(count)) input_tokens_ = number;
}

void ReplyBuilder::set_output_tokens(const Value& count) {
  if (auto number = token_count(count)) output_tokens_ = number;
}

void ReplyBuilder::set_cached_input_tokens(const Value& count) {
  if (auto number = token_count(count)) cached_input_tokens_ = *number;
}

std::vector<ToolCall> ReplyBuilder::finished_calls() {
  std::set<std::string, std::less<>> taken;
  for (const Message& message : request_.messages) {
    for (const ToolCall& call : message.tool_calls) taken.insert(call.id);
  }
  std::vector<ToolCall> calls;
  int number = 0;
  for (ToolCallBuilder& draft : calls_) {
    ToolCall call;
    call.id = std::move(draft.id);
    // Some servers send no id, or the same id twice.
    while (call.id.empty() || !taken.insert(call.id).second) {
      call.id = "call_" + std::to_string(++number);
    }
    call.name = draft.name.empty() ? "unnamed" : std::move(draft.name);
    call.arguments = arguments_of(draft);
    calls.push_back(std::move(call));
  }
  return calls;
}

Result<ModelReply> ReplyBuilder::whole() {
  ModelReply reply;
  reply.provider = server_.provider;
  reply.model = model_.empty() ? server_.model : model_;
  reply.method = "language_model";
  reply.stop_reason = end_.value_or(StopReason::complete);
  if (!refusal_.empty()) {
    reply.stop_reason = StopReason::refused;
    BELAY_CHECK(add_text(refusal_));
  }
  reply.text = std::move(text_);
  // If a reply was cut off, its tool calls might be incomplete.
  bool may_call =
      reply.stop_reason == StopReason::complete || reply.stop_reason == StopReason::tool_calls;
  if (may_call) reply.tool_calls = finished_calls();
  if (may_call) {
    // Some servers report "stop" with tool calls, or tool calls without any.
    reply.stop_reason = reply.tool_calls.empty() ? StopReason::complete : StopReason::tool_calls;
  }
  if (input_tokens_ && output_tokens_) {
    reply.usage =
        Usage{*input_tokens_, *output_tokens_, std::min(cached_input_tokens_, *input_tokens_)};
  }
  return reply;
}

Error ReplyBuilder::cut_off() const {
  return error(ErrorCode::unavailable, server_.who() + " ended its response too early. Try again.");
}

Error ReplyBuilder::garbage(std::string_view what) const {
  return error(ErrorCode::unavailable,
               server_.who() + " violated its protocol: " + quotable(what, 200));
}

}  // namespace belay::models
