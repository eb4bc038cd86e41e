#include "agents/assistant/conversation_form.h"

namespace belay::assistant {
namespace {

std::string text_in(const Value& state, std::string_view member) {
  const std::string* text = state[member].as_string();
  return text ? *text : std::string();
}

std::vector<Message> messages_of(const Value& state) {
  std::vector<Message> messages;
  if (const Value::Array* remembered = state["messages"].as_array()) {
    for (const Value& each : *remembered) {
      Role role = each["role"] == Value("user") ? Role::user : Role::assistant;
      messages.push_back({role, text_in(each, "text")});
    }
  }
  std::string question = text_in(state, "question");
  std::string answer = text_in(state, "answer");
  std::size_t count = messages.size();
  // Until a run has answered, its state has the answer of the run before it.
  bool is_old = count > 0 && messages[count - 1].text == answer;
  bool is_remembered = is_old && count > 1 && messages[count - 2].text == question;
  if (question.empty() || is_remembered) return messages;
  messages.push_back({Role::user, std::move(question)});
  bool is_waiting = state["review"] == Value(true) && state["approved"] != Value(true);
  if (!answer.empty() && !is_old && !is_waiting) {
    messages.push_back({Role::assistant, std::move(answer)});
  }
  return messages;
}

}  // namespace

ConversationForm conversation_form() {
  ConversationForm form;
  form.input_of = [](std::string_view text) -> Result<Value> {
    return Value::object({{"question", text}});
  };
  form.messages_of = messages_of;
  return form;
}

}  // namespace belay::assistant
