#include "agents/goals/conversation_form.h"

#include <limits>
#include <optional>

#include "agents/goals/goal_rules.h"

namespace belay::goals {
namespace {

// Its steps are records, which need the id of a goal.
Result<Value> input_of(std::string_view text) {
  Goal goal;
  std::string seed = "goal of a conversation\n";
  goal.id = derived_uuid(seed.append(text)).text();
  goal.objective = text;
  BELAY_CHECK(check_goal(goal, KnownTools()));
  Value input = Value::object({{"id", goal.id}, {"objective", goal.objective}});
  return Value::object({{"goal", std::move(input)}});
}

std::string text_in(const Value& value, std::string_view member) {
  const std::string* text = value[member].as_string();
  return text ? *text : std::string();
}

std::int64_t number_in(const Value& value, std::string_view member) {
  return value[member].as_int().value_or(0);
}

const Value::Array& list_in(const Value& value, std::string_view member) {
  static const Value::Array none;
  const Value::Array* list = value[member].as_array();
  return list ? *list : none;
}

struct Call {
  std::string tool;
  Value arguments;
  std::optional<std::string> result;  // nullopt: it has not ended
  bool is_error = false;
};

std::vector<Call> calls_of_ended_step(const Value& step) {
  std::vector<Call> calls;
  for (const Value& call : list_in(step, "calls")) {
    bool is_error = call["isError"] == Value(true);
    calls.push_back({text_in(call, "tool"), call["input"], text_in(call, "text"), is_error});
  }
  return calls;
}

std::vector<Call> calls_of_current_step(const Value& state) {
  std::vector<Call> calls;
  for (const Value& planned : list_in(state, "calls")) {
    Call call{text_in(planned["call"], "name"), planned["call"]["arguments"], std::nullopt};
    std::string fault = text_in(planned, "fault");
    const Value& result = state["results"][std::to_string(calls.size())];
    if (!result.is_null()) call.result = text_in(result, "text");
    if (!fault.empty()) call.result = fault;
    call.is_error = !fault.empty() || result["isError"] == Value(true);
    calls.push_back(std::move(call));
  }
  return calls;
}

// The messages of a state are added in their order.
class GoalMessages {
 public:
  explicit GoalMessages(const Value& state) : steering_(list_in(state, "messages")) {}

  void add(Role role, std::string text, std::string id) {
    if (!text.empty()) all_.push_back({.message = {role, std::move(text)}, .id = std::move(id)});
  }
  // `step`: with the members of its reply. It can have neither a text nor a call.
  void add_step(std::int64_t number, const Value& step, std::vector<Call> calls) {
    add_steering_until(number);
    Message reply{Role::assistant, text_in(step, "thought")};
    // The ids of the planner: an approval that waits names its call, too.
    std::string prefix = "step_" + std::to_string(number) + "_";
    for (Call& call : calls) {
      std::string id = prefix + std::to_string(reply.tool_calls.size());
      reply.tool_calls.push_back({std::move(id), std::move(call.tool), std::move(call.arguments)});
    }
    if (reply.text.empty() && calls.empty()) return;
    all_.push_back({.message = std::move(reply), .id = text_in(step, "messageId")});
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i].result) continue;
      Message result{Role::tool, *std::move(calls[i].result)};
      result.tool_call_id = prefix + std::to_string(i);
      all_.push_back({.message = std::move(result), .is_error = calls[i].is_error});
    }
  }
  // Adds the steering messages that this step, or an earlier one, has used.
  void add_steering_until(std::int64_t step) {
    for (; used_ < steering_.size() && number_in(steering_[used_], "step") <= step; ++used_) {
      add(Role::user, text_in(steering_[used_], "text"), "");
    }
  }
  std::vector<FormMessage> take() && { return std::move(all_); }

 private:
  const Value::Array& steering_;
  std::size_t used_ = 0;
  std::vector<FormMessage> all_;
};

std::vector<FormMessage> messages_of(const Value& state, const std::string& question_id) {
  GoalMessages messages(state);
  messages.add(Role::user, text_in(state["goal"], "objective"), question_id);
  for (const Value& step : list_in(state, "history")) {
    messages.add_step(number_in(step, "number"), step, calls_of_ended_step(step));
  }
  messages.add_step(number_in(state, "step"), state, calls_of_current_step(state));
  messages.add_steering_until(std::numeric_limits<std::int64_t>::max());
  messages.add(Role::assistant, text_in(state, "summary"), text_in(state, "summaryId"));
  return std::move(messages).take();
}

}  // namespace

ConversationForm conversation_form() {
  ConversationForm form;
  form.input_of = input_of;
  form.messages_of = messages_of;
  return form;
}

}  // namespace belay::goals
