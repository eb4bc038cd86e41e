#pragma once
// cli/find_approval.h - from what a person types to the approval that is meant.

#include "cli/world.h"

namespace belay::cli {

inline constexpr std::size_t kIdPrefixMin = 6;

// The approval that `id` names: by its whole id, by the thread that waits with it, or by the first
// kIdPrefixMin or more characters of its id. A thread that waits no longer means its newest one, so
// that a decision may be repeated.
//
// `not_found` for none; `invalid` for a prefix that is too short or that several share; `conflict`
// for a thread that has ended without a question.
Task<Result<ApprovalRow>> find_approval(World& world, std::string id);

}  // namespace belay::cli
