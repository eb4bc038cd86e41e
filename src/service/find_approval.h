#pragma once
// service/find_approval.h - finds the approval that a user's text names.

#include "belay/service.h"

namespace belay {

inline constexpr std::size_t kIdPrefixMin = 6;

// Returns the approval that `id` names, within `whose`: by its whole id, by the thread that waits
// for it, or by a prefix of its id with kIdPrefixMin or more characters. A whole id takes
// precedence over a thread of the same name. If a thread does not wait any more, it means its
// newest approval, so that a decision can be repeated. `call` is the program's name in the
// suggested commands.
//
// Fails with `not_found` if none matches; with `invalid`, naming both, if two approvals, or an
// approval and a thread, match, or if a prefix is too short; with `conflict` if the thread has no
// approval.
Result<ApprovalRow> find_approval(Snapshot& view, const TenantId& tenant, const std::string& id,
                                  const Whose& whose, const std::string& call);

// The same by thread only.
Result<ApprovalRow> find_approval_of(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                     const Whose& whose, const std::string& call);

}  // namespace belay
