#include "service/approval_terms_json.h"

#include "base/text_in.h"

namespace belay {
namespace {

Value term_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

}  // namespace

void add_terms(const ApprovalRow& row, Value::Object& document) {
  auto terms = terms_of(row);
  auto reply = reply_of(row);
  Value::Array choices;
  for (const ApprovalChoice& each : terms.ok() ? terms->choices : std::vector<ApprovalChoice>()) {
    choices.push_back(Value::object(
        {{"name", each.name}, {"label", term_or_null(each.label)}, {"approves", each.approves}}));
  }
  document.emplace("choices", std::move(choices));
  document.emplace("choice", term_or_null(choice_of(row)));
  document.emplace("whenExpired", terms.ok() ? terms->when_expired : "reject");
  if (terms.ok() && terms->needs != 1) document.emplace("needs", terms->needs);
  if (terms.ok() && !terms->answer_schema.is_null()) {
    document.emplace("answerSchema", terms->answer_schema);
  }
  if (!reply.ok()) return;
  if (!reply->answer.is_null()) document.emplace("answer", std::move(reply->answer));
  if (reply->votes.empty()) return;
  Value::Array votes;
  for (const ApprovalVote& vote : reply->votes) votes.push_back(detail::value_of(vote));
  document.emplace("votes", std::move(votes));
}

ApprovalTerms terms_from(const Value& document) {
  ApprovalTerms terms;
  const Value::Array* choices = document["choices"].as_array();
  for (const Value& each : choices ? *choices : Value::Array()) {
    const bool* approves = each["approves"].as_bool();
    std::string name = text_in(each, "name");
    if (name.empty()) continue;
    terms.choices.push_back({std::move(name), text_in(each, "label"), !approves || *approves});
  }
  if (terms.choices.empty()) terms.choices = {{"approve", "", true}, {"reject", "", false}};
  terms.answer_schema = document["answerSchema"];
  terms.needs = document["needs"].as_int().value_or(1);
  if (std::string word = text_in(document, "whenExpired"); !word.empty()) {
    terms.when_expired = std::move(word);
  }
  return terms;
}

ApprovalReply reply_from(const Value& document) {
  ApprovalReply reply;
  std::string choice = text_in(document, "choice");
  if (choice != "approve" && choice != "reject") reply.choice = std::move(choice);
  if (!document["editedPayload"].is_null()) reply.edited = document["editedPayload"];
  reply.answer = document["answer"];
  const Value::Array* votes = document["votes"].as_array();
  for (const Value& vote : votes ? *votes : Value::Array()) {
    reply.votes.push_back(detail::vote_from(vote));
  }
  return reply;
}

}  // namespace belay
