#include "agents/goals/conversation_form.h"

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

void add_text(const Value& text, Role role, std::string id, std::vector<FormMessage>& messages) {
  const std::string* said = text.as_string();
  if (said && !said->empty()) messages.push_back({.message = {role, *said}, .id = std::move(id)});
}

std::vector<FormMessage> messages_of(const Value& state, const std::string& question_id) {
  std::vector<FormMessage> messages;
  add_text(state["goal"]["objective"], Role::user, question_id, messages);
  if (const Value::Array* steering = state["messages"].as_array()) {
    for (const Value& each : *steering) add_text(each["text"], Role::user, "", messages);
  }
  add_text(state["summary"], Role::assistant, "", messages);
  return messages;
}

}  // namespace

ConversationForm conversation_form() {
  ConversationForm form;
  form.input_of = input_of;
  form.messages_of = messages_of;
  return form;
}

}  // namespace belay::goals
