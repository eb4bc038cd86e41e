// The terms of approvals and the parts of decisions, and their stored forms: JSON within the
// envelopes of ApprovalRow::payload and ApprovalRow::edited. Approvals with plain terms, and plain
// decisions, have plain envelopes.

#include "base/text_in.h"
#include "belay/approval.h"

#include <algorithm>

#include "belay/detail/expiry_envelope.h"
#include "belay/limits.h"
#include "store/envelope.h"
#include "store/envelope_type.h"

namespace belay {
namespace {

Error damaged_part(std::string_view what, const ApprovalRow& row) {
  return error(ErrorCode::corrupt, "The " + std::string(what) + " of approval " +
                                       row.interrupt.text() + " is damaged. Restore a backup.");
}

std::vector<ApprovalChoice> plain_choices() {
  return {{"approve", "", true}, {"reject", "", false}};
}

Value value_of_choice(const ApprovalChoice& choice) {
  Value::Object members{{"name", choice.name}};
  if (!choice.label.empty()) members.emplace("label", choice.label);
  if (!choice.approves) members.emplace("rejects", true);
  return Value(std::move(members));
}

ApprovalChoice choice_from(const Value& stored) {
  const bool* rejects = stored["rejects"].as_bool();
  return {text_in(stored, "name"), text_in(stored, "label"), !(rejects && *rejects)};
}

}  // namespace

const ApprovalChoice* ApprovalTerms::find(std::string_view choice) const {
  for (const ApprovalChoice& each : choices) {
    if (each.name == choice) return &each;
  }
  return nullptr;
}

bool ApprovalTerms::is_plain() const { return choices == plain_choices(); }

Result<ApprovalTerms> terms_of(const ApprovalRow& row) {
  BELAY_TRY(auto parts, detail::with_expiry_message(row.payload));
  ApprovalTerms terms;
  terms.choices = plain_choices();
  if (parts.message.empty()) return terms;
  auto stored = parse_json(parts.message, limits::document_depth_max);
  if (!stored.ok() || !stored->as_object()) return damaged_part("expiry message or terms", row);
  if (std::string topic = text_in(*stored, "topic"); !topic.empty()) {
    terms.on_expiry = ExpiryMessage{std::move(topic), (*stored)["data"]};
  }
  if (const Value::Array* choices = (*stored)["choices"].as_array()) {
    terms.choices.clear();
    for (const Value& each : *choices) terms.choices.push_back(choice_from(each));
  }
  terms.answer_schema = (*stored)["answer"];
  terms.needs = (*stored)["needs"].as_int().value_or(1);
  if (std::string word = text_in(*stored, "whenExpired"); !word.empty()) {
    terms.when_expired = std::move(word);
  }
  bool has_names = std::none_of(terms.choices.begin(), terms.choices.end(),
                                [](const ApprovalChoice& each) { return each.name.empty(); });
  bool has_terms = stored->find("choices") || stored->find("answer") || stored->find("needs") ||
                   stored->find("whenExpired");
  bool has_topic = terms.on_expiry || (has_terms && !stored->find("data"));
  if (!has_names || terms.choices.empty() || terms.needs < 1 || !has_topic) {
    return damaged_part("expiry message or terms", row);
  }
  return terms;
}

Result<ApprovalReply> reply_of(const ApprovalRow& row) {
  ApprovalReply reply;
  if (row.edited.empty()) return reply;
  BELAY_TRY(std::string_view text, json_in_envelope(row.edited));
  BELAY_TRY(Value stored, parse_json(text, limits::document_depth_max));
  if (store::split_envelope(row.edited)->type != detail::reply_type) {
    reply.edited = std::move(stored);
    return reply;
  }
  if (!stored.as_object()) return damaged_part("decision", row);
  reply.choice = text_in(stored, "choice");
  reply.answer = stored["answer"];
  if (const Value* edited = stored.find("edited")) reply.edited = *edited;
  if (const Value::Array* votes = stored["votes"].as_array()) {
    for (const Value& vote : *votes) reply.votes.push_back(detail::vote_from(vote));
  }
  return reply;
}

Value expiry_value(const ApprovalRow& row) {
  return row.expires_at == never_expires ? Value() : Value(to_text(row.expires_at));
}

std::string choice_of(const ApprovalRow& row) {
  bool is_approved = row.status == ApprovalStatus::approved;
  if (!is_approved && row.status != ApprovalStatus::rejected) return {};
  auto reply = reply_of(row);
  if (reply.ok() && !reply->choice.empty()) return reply->choice;
  return is_approved ? "approve" : "reject";
}

namespace detail {

std::string payload_envelope(std::string_view json, const ApprovalTerms& terms) {
  Value::Object stored;
  if (terms.on_expiry) {
    stored.emplace("topic", terms.on_expiry->topic);
    if (!terms.on_expiry->data.is_null()) stored.emplace("data", terms.on_expiry->data);
  }
  if (!terms.is_plain()) {
    Value::Array choices;
    for (const ApprovalChoice& each : terms.choices) choices.push_back(value_of_choice(each));
    stored.emplace("choices", std::move(choices));
  }
  if (!terms.answer_schema.is_null()) stored.emplace("answer", terms.answer_schema);
  if (terms.needs != 1) stored.emplace("needs", terms.needs);
  if (terms.when_expired != "reject") stored.emplace("whenExpired", terms.when_expired);
  if (stored.empty()) return json_envelope(json);
  return expiry_envelope(to_json(Value(std::move(stored))), json);
}

std::string reply_text(const ApprovalReply& reply) {
  bool is_plain = reply.choice.empty() && reply.answer.is_null() && reply.votes.empty();
  if (is_plain) return reply.edited ? to_json(*reply.edited) : std::string();
  Value::Object stored;
  if (!reply.choice.empty()) stored.emplace("choice", reply.choice);
  if (reply.edited) stored.emplace("edited", *reply.edited);
  if (!reply.answer.is_null()) stored.emplace("answer", reply.answer);
  Value::Array votes;
  for (const ApprovalVote& vote : reply.votes) votes.push_back(value_of(vote));
  if (!votes.empty()) stored.emplace("votes", std::move(votes));
  return to_json(Value(std::move(stored)));
}

std::string reply_envelope(const ApprovalReply& reply) {
  std::string text = reply_text(reply);
  if (text.empty()) return text;
  bool is_plain = reply.choice.empty() && reply.answer.is_null() && reply.votes.empty();
  return is_plain ? json_envelope(text) : store::front_of_type(reply_type) + text;
}

Value value_of(const ApprovalVote& vote) {
  Value::Object members{
      {"decidedBy", vote.decided_by}, {"choice", vote.choice}, {"at", to_text(vote.at)}};
  if (!vote.on_behalf_of.empty()) members.emplace("onBehalfOf", vote.on_behalf_of);
  if (!vote.comment.empty()) members.emplace("comment", vote.comment);
  return Value(std::move(members));
}

ApprovalVote vote_from(const Value& value) {
  ApprovalVote vote;
  vote.decided_by = text_in(value, "decidedBy");
  vote.on_behalf_of = text_in(value, "onBehalfOf");
  vote.choice = text_in(value, "choice");
  vote.comment = text_in(value, "comment");
  vote.at = instant_from(text_in(value, "at")).value_or(Instant());
  return vote;
}

}  // namespace detail
}  // namespace belay
