#include "agents/assistant/conversation_form.h"

namespace belay::assistant {
namespace {

std::string text_in(const Value& state, std::string_view member) {
  const std::string* text = state[member].as_string();
  return text ? *text : std::string();
}

std::vector<FormMessage> messages_of(const Value& state, const std::string& question_id) {
  std::vector<FormMessage> messages;
  if (const Value::Array* remembered = state["messages"].as_array()) {
    for (const Value& each : *remembered) {
      Role role = each["role"] == Value("user") ? Role::user : Role::assistant;
      messages.push_back({.message = {role, text_in(each, "text")}, .id = text_in(each, "id")});
    }
  }
  std::string question = text_in(state, "question");
  std::string answer = text_in(state, "answer");
  std::string id = text_in(state, "answer_id");
  std::size_t count = messages.size();
  // Until a run has answered, its state can have the answer of the run before it.
  bool is_old =
      count > 0 && messages[count - 1].id == id && messages[count - 1].message.text == answer;
  bool is_remembered = is_old && count > 1 && messages[count - 2].message.text == question;
  if (question.empty() || is_remembered) return messages;
  messages.push_back({.message = {Role::user, std::move(question)}, .id = question_id});
  bool is_waiting = state["review"] == Value(true) && state["approved"] != Value(true);
  if (!answer.empty() && !is_old && !is_waiting) {
    messages.push_back({.message = {Role::assistant, std::move(answer)}, .id = std::move(id)});
  }
  return messages;
}

}  // namespace

ConversationForm conversation_form() {
  ConversationForm form;
  form.input_of = [](std::string_view text) -> Result<Value> {
    // Without the answer of the run before it: the same question can be asked again.
    return Value::object({{"question", text}, {"answer", ""}});
  };
  form.messages_of = messages_of;
  return form;
}

}  // namespace belay::assistant
