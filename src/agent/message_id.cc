#include "agent/message_id.h"

#include "base/text_in.h"
#include "belay/agent.h"

namespace belay {

std::string agents::message_id(const TaskId& task, int attempt) {
  std::string id = "run-" + task.text();
  return attempt > 1 ? id + "-" + std::to_string(attempt) : id;
}

std::string streamed_message_id(const Context& context) {
  return agents::message_id(context.task(), context.attempt());
}

std::string question_id(const Context& context) {
  return text_in(context.configuration(), agents::kQuestionId);
}

}  // namespace belay
