#include "belay/testing.h"

namespace belay::testing {

ScriptedModel& ScriptedModel::says(std::string text) {
  return answers([text = std::move(text)](const ModelRequest&) { return text; });
}

ScriptedModel& ScriptedModel::fails(Error failure) {
  return answers([failure = std::move(failure)](const ModelRequest&) { return failure; });
}

ScriptedModel& ScriptedModel::answers(Answer answer) {
  script_.push_back(std::move(answer));
  return *this;
}

ScriptedModel& ScriptedModel::then_always(Answer answer) {
  always_ = std::move(answer);
  return *this;
}

ScriptedModel& ScriptedModel::then_the_last() {
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
  if (request.on_text && !text->empty()) request.on_text(*text);
  ModelReply reply;
  reply.text = *std::move(text);
  reply.provider = "scripted";
  reply.model = "script";
  reply.method = "script";
  co_return std::move(reply);
}

ScriptedModel says(std::string text) {
  ScriptedModel model;
  model.says(std::move(text)).then_the_last();
  return model;
}

ScriptedModel fails(Error failure) {
  ScriptedModel model;
  model.fails(std::move(failure)).then_the_last();
  return model;
}

ScriptedModel answers(ScriptedModel::Answer answer) {
  ScriptedModel model;
  model.then_always(std::move(answer));
  return model;
}

}  // namespace belay::testing
