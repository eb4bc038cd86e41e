// Replies of persons to an approval, in the forms of several chats. A form is accepted only if each
// of its members is known: one that is ignored could change the meaning of an approval.

#include <algorithm>
#include <array>

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "belay/service.h"
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

bool has_choices(const ApprovalTerms& terms) { return !terms.choices.empty() && !terms.is_plain(); }

Error no_such_choice(const ApprovalTerms& terms) {
  std::string names;
  for (const ApprovalChoice& each : terms.choices) {
    names += (names.empty() ? "" : ", ") + in_quotes(each.name);
  }
  return error(ErrorCode::invalid,
               "The reply is not a choice of this approval. Reply one of " + names + ".");
}

std::string lower_word(std::string_view text) {
  std::string word(trimmed(text));
  for (char& letter : word) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return word;
}

Result<ChatDecision> decision_of_text(std::string_view text, const ApprovalTerms& terms) {
  if (has_choices(terms)) {
    ChatDecision chosen;
    chosen.choice = trimmed(text);
    if (terms.find(chosen.choice)) return chosen;
  }
  // A longer text is not a known word; it is not cut, for its end could contradict its beginning.
  std::string word = text.size() <= word_bytes_max ? lower_word(text) : std::string();
  ChatDecision decision;
  decision.approved = std::find(approving.begin(), approving.end(), word) != approving.end();
  if (decision.approved || std::find(rejecting.begin(), rejecting.end(), word) != rejecting.end()) {
    return decision;
  }
  if (has_choices(terms)) return no_such_choice(terms);
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
Result<ChatDecision> decision_of_flag(const Value& reply, const ApprovalTerms& terms) {
  BELAY_CHECK(check_members(*reply.as_object(), {"approved", "choice", "comment", "reason",
                                                 "edited", "editedArgs", "answer"}));
  ChatDecision decision;
  decision.answer = reply["answer"];
  bool rejects = false;
  if (const Value& choice = reply["choice"]; !choice.is_null()) {
    if (!reply["approved"].is_null()) return not_a_decision("it has two decisions.");
    if (!choice.as_string()) return not_a_decision("\"choice\" is not a text.");
    decision.choice = *choice.as_string();
    const ApprovalChoice* known = terms.find(decision.choice);
    if (!known && !terms.choices.empty()) return no_such_choice(terms);
    rejects = known && !known->approves;
  } else {
    const bool* approved = reply["approved"].as_bool();
    if (!approved) return not_a_decision("\"approved\" is not true or false.");
    decision.approved = *approved;
    rejects = !*approved;
  }
  BELAY_TRY(decision.comment, comment_in(reply, "comment", "reason"));
  decision.edits_arguments = reply["edited"].is_null() && !reply["editedArgs"].is_null();
  decision.edited = reply[decision.edits_arguments ? "editedArgs" : "edited"];
  if (!decision.edits_arguments && !reply["editedArgs"].is_null()) {
    return not_a_decision("it has two edits.");
  }
  if (rejects && !decision.edited.is_null()) {
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
Result<ChatDecision> decision_of_type(const Value& reply, const ApprovalTerms& terms) {
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
    BELAY_TRY(decision, decision_of_text(has_choices(terms) ? *type : word, terms));
  }
  const std::string* args = reply["args"].as_string();
  BELAY_TRY(decision.comment, comment_in(reply, "message", "comment"));
  bool is_rejection = !decision.approved && decision.choice.empty();
  if (decision.comment.empty() && args && is_rejection) decision.comment = *args;
  if (is_answer && trimmed(decision.comment).empty()) {
    return not_a_decision("its response has no text.");
  }
  return decision;
}

}  // namespace

Result<ChatDecision> decision_of_reply(const Value& reply, const ApprovalTerms& terms) {
  if (const bool* flag = reply.as_bool()) {
    ChatDecision decision;
    decision.approved = *flag;
    return decision;
  }
  if (const std::string* text = reply.as_string()) return decision_of_text(*text, terms);
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
  bool is_flag = one->find("approved") || one->find("choice");
  if (is_flag) return decision_of_flag(*one, terms);
  if (one->find("type")) return decision_of_type(*one, terms);
  return not_a_decision("it has no \"approved\" and no \"type\".");
}

Result<Decision> decision_of_reply(const Value& reply, const ApprovalRow& approval) {
  BELAY_TRY(ApprovalTerms terms, terms_of(approval));
  BELAY_TRY(ChatDecision chosen, decision_of_reply(reply, terms));
  Decision decision;
  decision.approved = chosen.approved;
  decision.choice = chosen.choice;
  decision.comment = chosen.comment;
  decision.answer = chosen.answer;
  Value edited = edited_payload(chosen, payload_of(approval));
  if (!edited.is_null()) decision.edited = std::move(edited);
  return decision;
}

void add_offered(const ApprovalRow& approval, Value::Object& shown) {
  auto terms = terms_of(approval);
  if (!terms.ok()) return;
  if (!terms->answer_schema.is_null()) shown.emplace("answerSchema", terms->answer_schema);
  if (terms->is_plain()) return;
  Value::Array choices;
  for (const ApprovalChoice& each : terms->choices) {
    Value choice = Value::object({{"name", each.name}});
    if (!each.label.empty()) choice.as_object()->emplace("label", each.label);
    choices.push_back(std::move(choice));
  }
  shown.emplace("choices", std::move(choices));
}

Value edited_payload(const ChatDecision& decision, const Value& payload) {
  bool is_call = payload["tool"].as_string() && payload["arguments"].as_object();
  if (decision.edited.is_null() || !decision.edits_arguments || !is_call) return decision.edited;
  Value edited = payload;
  (*edited.as_object())["arguments"] = decision.edited;
  return edited;
}

}  // namespace belay::conversation
