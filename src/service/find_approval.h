#pragma once
// service/find_approval.h - from what a person types to the approval that is meant.

#include "service/service.h"

namespace belay {

inline constexpr std::size_t kIdPrefixMin = 6;

// The approval that `id` names, among those of `whose`: by its whole id, by the thread that waits
// with it, or by the first kIdPrefixMin or more characters of its id. A whole id is that approval's
// whatever threads are called. A thread that waits no longer means its newest one, so that a
// decision may be repeated. `call` is how the program is called, for what to look at.
//
// `not_found` for none; `invalid`, naming both, for what two approvals, or an approval and a
// thread, may be meant by, and for a prefix that is too short; `conflict` for a thread that asks
// nothing.
Result<ApprovalRow> find_approval(Snapshot& view, const TenantId& tenant, const std::string& id,
                                  const Whose& whose, const std::string& call);

// The same by the thread alone.
Result<ApprovalRow> find_approval_of(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                     const Whose& whose, const std::string& call);

}  // namespace belay
