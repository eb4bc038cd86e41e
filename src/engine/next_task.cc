#include "engine/next_task.h"

#include "belay/codec.h"

namespace belay::engine {
namespace {

Value text_of_answer(const std::pair<std::string, Answer>& entry) {
  const auto& [question, answer] = entry;
  return Value::object({{"question", question},
                        {"approved", answer.approved},
                        {"payload", answer.payload},
                        {"decidedBy", answer.decided_by},
                        {"comment", answer.comment}});
}

std::string string_in(const Value& object, std::string_view name) {
  const std::string* text = object[name].as_string();
  return text ? *text : std::string();
}

Error damaged() {
  return error(ErrorCode::corrupt,
               "A checkpoint's next task can't be read; run `belay check` and restore a backup.");
}

Result<Done> read_optional_parts(const Value& from, NodeTask& task) {
  task.attempt = static_cast<int>(from["attempt"].as_int().value_or(1));
  if (const std::string* due = from["due"].as_string()) {
    auto instant = instant_from(*due);
    if (!instant) return damaged();
    task.due = *instant;
    task.phase = NodeTask::Phase::waiting;
  }
  if (const Value* failure = from.find("error")) {
    auto code = error_code_named(string_in(*failure, "code"));
    if (!code) return damaged();
    task.previous_error = error(*code, string_in(*failure, "message"));
  }
  if (const std::string* interrupt = from["interrupt"].as_string()) {
    auto id = uuid_from(*interrupt);
    if (!id) return damaged();
    task.interrupt = InterruptId(*id);
    task.phase = NodeTask::Phase::asking;
  }
  task.question = string_in(from, "question");
  if (const Value::Array* answers = from["answers"].as_array()) {
    for (const Value& each : *answers) {
      Answer answer;
      const bool* approved = each["approved"].as_bool();
      if (!approved) return damaged();
      answer.approved = *approved;
      answer.payload = each["payload"];
      answer.decided_by = string_in(each, "decidedBy");
      answer.comment = string_in(each, "comment");
      task.answers.emplace_back(string_in(each, "question"), std::move(answer));
    }
  }
  return Done{};
}

}  // namespace

std::string next_tasks_text(const std::optional<NodeTask>& task, std::int64_t superstep) {
  if (!task) return "[]";
  // The common case is written by hand: one short object, several million times a minute.
  Encoder out;
  out.text += "[{\"node\":";
  write_json_string(task->node, out.text);
  out.text += ",\"superstep\":";
  out.write(superstep);
  auto add = [&](std::string_view name, const Value& value) {
    out.write_name(name, false);
    write_json(value, out.text);
  };
  if (task->attempt != 1) add("attempt", task->attempt);
  if (task->phase == NodeTask::Phase::waiting) add("due", to_text(task->due));
  if (task->previous_error) {
    add("error", Value::object({{"code", name_of(task->previous_error->code)},
                                {"message", task->previous_error->message}}));
  }
  if (task->phase == NodeTask::Phase::asking) add("interrupt", task->interrupt.text());
  if (!task->question.empty()) add("question", task->question);
  if (!task->answers.empty()) {
    Value::Array answers;
    for (const auto& answer : task->answers) answers.push_back(text_of_answer(answer));
    add("answers", Value(std::move(answers)));
  }
  out.text += "}]";
  return std::move(out.text);
}

Result<NextTask> next_task_from(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed.ok() || !parsed->as_array()) return damaged();
  const Value::Array& tasks = *parsed->as_array();
  NextTask next;
  if (tasks.empty()) return next;
  const std::string* node = tasks.front()["node"].as_string();
  auto superstep = tasks.front()["superstep"].as_int();
  if (!node || !superstep || tasks.size() != 1) return damaged();
  next.superstep = *superstep;
  next.task.emplace();
  next.task->node = *node;
  BELAY_CHECK(read_optional_parts(tasks.front(), *next.task));
  return next;
}

TaskId task_id(const RunId& run, std::int64_t superstep, std::string_view node) {
  std::string seed(reinterpret_cast<const char*>(run.bytes.data()), run.bytes.size());
  seed += std::to_string(superstep);
  seed += ' ';
  seed += node;
  return TaskId(derived_uuid(seed));
}

}  // namespace belay::engine
