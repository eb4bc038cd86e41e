#pragma once
// belay/detail/expiry_envelope.h - the envelope of an approval's payload with terms, such as the
// message of its expiry, the place of that message in the outbox, and the envelope of a decision.
//
// The data of an envelope with terms: a 4-byte little-endian length, the JSON of the terms
// (approval.h) of that length, then the payload's JSON. json_in_envelope() returns the payload.

#include "belay/rows.h"

namespace belay::detail {

inline constexpr std::string_view expiry_type = "json/expiry";
// Of ApprovalRow::edited with more than an edited payload: JSON, see ApprovalReply.
inline constexpr std::string_view reply_type = "json/decision";

struct PayloadParts {
  std::string_view message;  // JSON of the terms; empty: plain ones
  std::string_view json;
};

std::string expiry_envelope(std::string_view message, std::string_view json);
// Accepts plain JSON envelopes, too. Errors as json_in_envelope().
Result<PayloadParts> with_expiry_message(std::string_view envelope);

// The message of an expiry has the seq of the commit that requested the approval, and this index,
// which no other message has: its id is the same, whichever commit records the expiry.
std::int64_t expiry_message_index(const InterruptId& interrupt);
bool is_expiry_message(const OutboxRow& message);

}  // namespace belay::detail
