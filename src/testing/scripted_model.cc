#include <algorithm>
#include <charconv>

#include "belay/testing.h"

namespace belay::testing {
namespace {

constexpr std::string_view id_prefix = "call_";

// Returns n of "call_<n>"; 0 for any other id.
int number_in(std::string_view id) {
  if (!id.starts_with(id_prefix)) return 0;
  id.remove_prefix(id_prefix.size());
  int number = 0;
  auto read = std::from_chars(id.data(), id.data() + id.size(), number);
  return read.ec == std::errc() && read.ptr == id.data() + id.size() ? number : 0;
}

// The ids depend only on the request, so that they are the same after a crash and with parallel
// calls of the model.
void add_ids(std::vector<ToolCall>& calls, const ModelRequest& request) {
  int last = 0;
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.tool_calls) last = std::max(last, number_in(call.id));
  }
  for (const ToolCall& call : calls) last = std::max(last, number_in(call.id));
  for (ToolCall& call : calls) {
    if (call.id.empty()) call.id = std::string(id_prefix) + std::to_string(++last);
  }
}

void fill_in(ModelReply& reply, const ModelRequest& request) {
  if (reply.provider.empty()) reply.provider = "scripted";
  if (reply.model.empty()) reply.model = "script";
  if (reply.method.empty()) reply.method = "script";
  if (reply.tool_calls.empty()) return;
  add_ids(reply.tool_calls, request);
  if (reply.stop_reason == StopReason::complete) reply.stop_reason = StopReason::tool_calls;
}

}  // namespace

ScriptedModel& ScriptedModel::replies(std::string text) {
  return replies_with([text = std::move(text)](const ModelRequest&) { return text; });
}

ScriptedModel& ScriptedModel::fails(Error failure) {
  return replies_with([failure = std::move(failure)](const ModelRequest&) { return failure; });
}

ScriptedModel& ScriptedModel::calls(std::vector<ToolCall> tool_calls, std::string text) {
  ModelReply reply;
  reply.tool_calls = std::move(tool_calls);
  reply.text = std::move(text);
  reply.stop_reason = StopReason::tool_calls;
  return replies_with([reply = std::move(reply)](const ModelRequest&) { return reply; });
}

ScriptedModel& ScriptedModel::replies_with(Answer answer) {
  script_.push_back(std::move(answer));
  return *this;
}

ScriptedModel& ScriptedModel::then_always(Answer answer) {
  always_ = std::move(answer);
  return *this;
}

ScriptedModel& ScriptedModel::repeat_last() {
  keeps_last_ = true;
  return *this;
}

ScriptedModel& ScriptedModel::takes(std::chrono::milliseconds time) {
  time_ = time;
  return *this;
}

Task<Result<ModelReply>> ScriptedModel::generate(ModelRequest request) {
  requests_.push_back(request);
  Answer answer = always_;
  if (!script_.empty()) {
    answer = script_.front();
    if (!keeps_last_ || script_.size() > 1) script_.pop_front();
  }
  if (time_.count() > 0) co_await sleep_for(time_);
  if (!answer) co_return error(ErrorCode::unavailable, "The script of the model is at its end.");
  auto reply = answer(request);
  if (!reply.ok()) co_return std::move(reply).error();
  if (request.on_text_delta && !reply->text.empty()) request.on_text_delta(reply->text);
  fill_in(*reply, request);
  co_return std::move(reply);
}

ScriptedModel replies(std::string text) {
  ScriptedModel model;
  model.replies(std::move(text)).repeat_last();
  return model;
}

ScriptedModel calls(std::vector<ToolCall> tool_calls) {
  ScriptedModel model;
  model.calls(std::move(tool_calls)).repeat_last();
  return model;
}

ScriptedModel fails(Error failure) {
  ScriptedModel model;
  model.fails(std::move(failure)).repeat_last();
  return model;
}

ScriptedModel replies_with(ScriptedModel::Answer answer) {
  ScriptedModel model;
  model.then_always(std::move(answer));
  return model;
}

}  // namespace belay::testing
