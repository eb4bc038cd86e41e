// Replies of persons to an approval, in the forms of several chats. A form is accepted only if each
// of its members is known: one that is ignored could change the meaning of an approval.

#include <algorithm>
#include <array>

#include "base/trimmed.h"
#include "conversation/conversation.h"

namespace belay::conversation {
namespace {

// The types and texts that approve, and those that reject.
constexpr std::array approving{"approve", "approved", "accept", "accepted", "yes", "true"};
constexpr std::array rejecting{"reject",   "rejected", "ignore", "ignored", "deny",
                               "declined", "decline",  "denied", "no",      "false"};

constexpr std::size_t word_bytes_max = 100;

Error not_a_decision(std::string_view why) {
  return error(ErrorCode::invalid,
               "The reply neither approves nor rejects: " + std::string(why) +
                   " Reply \"approve\" or \"reject\", or {\"approved\": true or false}.");
}

std::string lower_word(std::string_view text) {
  std::string word(trimmed(text));
  for (char& letter : word) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return word;
}

Result<ChatDecision> decision_of_text(std::string_view text) {
  // A longer text is not a known word; it is not cut, for its end could contradict its beginning.
  std::string word = text.size() <= word_bytes_max ? lower_word(text) : std::string();
  ChatDecision decision;
  decision.approved = std::find(approving.begin(), approving.end(), word) != approving.end();
  if (decision.approved || std::find(rejecting.begin(), rejecting.end(), word) != rejecting.end()) {
    return decision;
  }
  return not_a_decision("the text is not a known one.");
}

Result<Done> check_members(const Value::Object& reply,
                           std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : reply) {
    if (!value.is_null() && std::find(known.begin(), known.end(), name) == known.end()) {
      return not_a_decision("a member of it is not known.");
    }
  }
  return Done{};
}

// Reads an optional text under one of two names.
Result<std::string> comment_in(const Value& reply, std::string_view name, std::string_view other) {
  const Value& comment = reply[name].is_null() ? reply[other] : reply[name];
  if (comment.is_null()) return std::string();
  const std::string* text = comment.as_string();
  if (!text) return not_a_decision("the comment is not a text.");
  return *text;
}

// {"approved": true, "comment": "...", "edited": ...}, and with "editedArgs" the arguments of a
// call alone.
Result<ChatDecision> decision_of_flag(const Value& reply) {
  BELAY_CHECK(
      check_members(*reply.as_object(), {"approved", "comment", "reason", "edited", "editedArgs"}));
  const bool* approved = reply["approved"].as_bool();
  if (!approved) return not_a_decision("\"approved\" is not true or false.");
  ChatDecision decision;
  decision.approved = *approved;
  BELAY_TRY(decision.comment, comment_in(reply, "comment", "reason"));
  decision.edits_arguments = reply["edited"].is_null() && !reply["editedArgs"].is_null();
  decision.edited = reply[decision.edits_arguments ? "editedArgs" : "edited"];
  if (!decision.edits_arguments && !reply["editedArgs"].is_null()) {
    return not_a_decision("it has two edits.");
  }
  if (!decision.approved && !decision.edited.is_null()) {
    return not_a_decision("it rejects, and has an edit.");
  }
  return decision;
}

// Of an edit, an object with the name of the tool and its arguments; or the arguments alone.
Result<Value> edited_arguments(const Value& edit) {
  if (edit.is_null()) return not_a_decision("its edit is empty.");
  for (std::string_view name : {"action", "name"}) {
    const Value::Object* action = edit.as_object();
    if (action && action->size() == 2 && edit[name].as_string() && edit["args"].as_object()) {
      return edit["args"];
    }
  }
  return edit;
}

Result<ChatDecision> decision_of_edit(const Value& reply) {
  const Value& action = reply["edited_action"];
  if (action.is_null() == reply["args"].is_null()) {
    return not_a_decision("its edit is empty, or there are two.");
  }
  ChatDecision decision;
  decision.approved = true;
  decision.edits_arguments = true;
  BELAY_TRY(decision.edited, edited_arguments(action.is_null() ? reply["args"] : action));
  BELAY_TRY(decision.comment, comment_in(reply, "message", "comment"));
  return decision;
}

// {"type": "accept", "args": ...}. The arguments of an "accept" repeat what is accepted.
Result<ChatDecision> decision_of_type(const Value& reply) {
  const std::string* type = reply["type"].as_string();
  if (!type) return not_a_decision("its type is not a text.");
  BELAY_CHECK(
      check_members(*reply.as_object(), {"type", "args", "message", "comment", "edited_action"}));
  std::string word = lower_word(*type);
  if (word == "edit") return decision_of_edit(reply);
  if (!reply["edited_action"].is_null()) return not_a_decision("it has an edit of another type.");
  bool is_answer = word == "response" || word == "respond";
  ChatDecision decision;
  if (!is_answer) {
    BELAY_TRY(decision, decision_of_text(word));
  }
  const std::string* args = reply["args"].as_string();
  BELAY_TRY(decision.comment, comment_in(reply, "message", "comment"));
  if (decision.comment.empty() && args && !decision.approved) decision.comment = *args;
  if (is_answer && trimmed(decision.comment).empty()) {
    return not_a_decision("its response has no text.");
  }
  return decision;
}

}  // namespace

Result<ChatDecision> decision_of_reply(const Value& reply) {
  if (const bool* flag = reply.as_bool()) {
    ChatDecision decision;
    decision.approved = *flag;
    return decision;
  }
  if (const std::string* text = reply.as_string()) return decision_of_text(*text);
  const Value* one = &reply;
  if (const Value* decisions = reply.find("decisions")) {
    BELAY_CHECK(check_members(*reply.as_object(), {"decisions"}));
    one = decisions;
    if (!one->as_array()) return not_a_decision("\"decisions\" is not a list.");
  }
  if (const Value::Array* list = one->as_array()) {
    if (list->size() != 1) return not_a_decision("it has not exactly one decision.");
    one = &list->front();
  }
  if (!one->as_object()) return not_a_decision("it is a " + std::string(one->kind()) + ".");
  if (one->find("approved")) return decision_of_flag(*one);
  if (one->find("type")) return decision_of_type(*one);
  return not_a_decision("it has no \"approved\" and no \"type\".");
}

Value edited_payload(const ChatDecision& decision, const Value& payload) {
  bool is_call = payload["tool"].as_string() && payload["arguments"].as_object();
  if (decision.edited.is_null() || !decision.edits_arguments || !is_call) return decision.edited;
  Value edited = payload;
  (*edited.as_object())["arguments"] = decision.edited;
  return edited;
}

}  // namespace belay::conversation
