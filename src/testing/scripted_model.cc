#include "belay/testing.h"

namespace belay::testing {

ScriptedModel& ScriptedModel::replies(std::string text) {
  return replies_with([text = std::move(text)](const ModelRequest&) { return text; });
}

ScriptedModel& ScriptedModel::fails(Error failure) {
  return replies_with([failure = std::move(failure)](const ModelRequest&) { return failure; });
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
  auto text = answer(request);
  if (!text.ok()) co_return std::move(text).error();
  if (request.on_text_delta && !text->empty()) request.on_text_delta(*text);
  ModelReply reply;
  reply.text = *std::move(text);
  reply.provider = "scripted";
  reply.model = "script";
  reply.method = "script";
  co_return std::move(reply);
}

ScriptedModel replies(std::string text) {
  ScriptedModel model;
  model.replies(std::move(text)).repeat_last();
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
