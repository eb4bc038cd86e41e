#pragma once
// service/find_approval.h - from what a person types to the approval that is meant.

#include "belay/store.h"

namespace belay {

inline constexpr std::size_t kIdPrefixMin = 6;

// The approval that `id` names: by its whole id, by the thread that waits with it, or by the first
// kIdPrefixMin or more characters of its id. A thread that waits no longer means its newest one, so
// that a decision may be repeated. `call` is how the program is called, for what to look at.
//
// `not_found` for none; `invalid` for a prefix that is too short or that several share; `conflict`
// for a thread that has ended without a question.
Result<ApprovalRow> find_approval(Snapshot& view, const TenantId& tenant, const std::string& id,
                                  const std::string& call);

}  // namespace belay
