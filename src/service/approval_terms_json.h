#pragma once
// service/approval_terms_json.h - the terms of an approval, and the parts of its decision, as
// members of its document.
//
// Threading: any thread.

#include "belay/approval.h"

namespace belay {

// Adds the members; those that a plain approval does not have only if this one has them.
void add_terms(const ApprovalRow& row, Value::Object& document);
// Read the members of a document. Servers of older versions send none: the terms are plain then.
ApprovalTerms terms_from(const Value& document);
ApprovalReply reply_from(const Value& document);

}  // namespace belay
