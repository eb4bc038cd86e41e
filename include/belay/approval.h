#pragma once
// belay/approval.h - the terms of an approval, and its decision as the next node reads it.
//
//     graph.approval("review", &Mail::draft, {.question = "Send it?", .expires = Expiry::never})
//         .approved("send")
//         .choice("rewrite", "write", "Write it again")
//         .choice("drop", end);
//     ...
//     if (const ApprovalDecision* review = context.decision()) prompt += review->comment;
//
// The terms are stored with the approval when it is requested: a later version of the graph, or a
// program without it, shows and checks the same ones.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "belay/rows.h"
#include "belay/value.h"

namespace belay {

// ApprovalOptions::expires of an approval that never expires, and its ApprovalRow::expires_at.
struct Expiry {
  static constexpr std::chrono::milliseconds never = std::chrono::milliseconds::max();
};
inline constexpr Instant never_expires{std::chrono::seconds{253'402'300'799}};

// The outbox message that the commit of an approval's expiry adds, atomically: at most one for each
// approval. Its body: docs/effects.md.
struct ExpiryMessage {
  std::string topic;
  Value data = {};  // the member `data` of the body; null: without it
};

struct ApprovalChoice {
  std::string name;
  std::string label = {};  // shown in addition to the name
  bool approves = true;    // false: recorded as `rejected`, and takes no edited payload
  friend bool operator==(const ApprovalChoice&, const ApprovalChoice&) = default;
};

struct ApprovalTerms {
  std::vector<ApprovalChoice> choices;  // at least one; "approve" and "reject" without any others
  Value answer_schema = {};             // of the answer that each choice that approves needs
  std::int64_t needs = 1;               // approving decisions, each of another person
  std::string when_expired = "reject";  // see ApprovalOptions
  std::optional<ExpiryMessage> on_expiry = std::nullopt;
  const ApprovalChoice* find(std::string_view choice) const;
  bool is_plain() const;  // only "approve" and "reject" can be chosen
};
// `corrupt` if the stored terms are damaged.
Result<ApprovalTerms> terms_of(const ApprovalRow& row);

// One of several decisions that an approval needs.
struct ApprovalVote {
  std::string decided_by;
  std::string on_behalf_of;
  std::string choice;
  std::string comment;
  Instant at{};
  friend bool operator==(const ApprovalVote&, const ApprovalVote&) = default;
};

// The parts of a decision that are stored in ApprovalRow::edited.
struct ApprovalReply {
  std::string choice = {};  // empty: that of the status, "approve" or "reject"
  std::optional<Value> edited = std::nullopt;
  Value answer = {};
  std::vector<ApprovalVote> votes = {};  // of an approval with `needs` above 1, also while open
};
// `corrupt` if the stored reply is damaged.
Result<ApprovalReply> reply_of(const ApprovalRow& row);
// The time of the expiry as text; null: never.
Value expiry_value(const ApprovalRow& row);
// The choice of a decided approval; empty for an open, expired or closed one.
std::string choice_of(const ApprovalRow& row);

// The decision on an approval node, for the node that follows it: see Context::decision().
struct ApprovalDecision {
  std::string approval;  // name of the approval node
  std::string choice;    // "approve", "reject", or the name of a choice; also after an expiry
  bool approved = false;
  bool expired = false;  // `choice` is that of ApprovalOptions::when_expired
  std::string decided_by;
  std::string on_behalf_of;
  std::string comment;
  std::optional<Value> edited = std::nullopt;  // in the state, too
  Value answer = {};
  std::vector<ApprovalVote> votes = {};
  Instant at{};

  // Returns the answer of an approval with ApprovalSetting::answer<T>(). Throws Failure (`invalid`)
  // without an answer that fits T.
  template <typename T>
  T answer_as() const {
    return decode_json<T>(answer).value();
  }
};

namespace detail {
// The envelopes of ApprovalRow::payload and ApprovalRow::edited.
std::string payload_envelope(std::string_view json, const ApprovalTerms& terms);
std::string reply_envelope(const ApprovalReply& reply);  // empty: nothing to store
// The JSON text in that envelope, of which ApprovalRow::edited_hash is the hash; empty: nothing.
std::string reply_text(const ApprovalReply& reply);
Value value_of(const ApprovalVote& vote);
ApprovalVote vote_from(const Value& value);
}  // namespace detail

}  // namespace belay
