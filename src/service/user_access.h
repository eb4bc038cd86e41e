#pragma once
// service/user_access.h - the users whose data a principal can read and change: see principal.h.

#include <optional>

#include "belay/principal.h"
#include "belay/result.h"

namespace belay {

// The data that a principal can read: the data of its user; also others' approvals; all.
enum class Reach { own, approvals, all };
Reach reach_of(const Principal& who);

// Fails with `not_found` if the principal cannot access the data of the user.
Result<Done> check_user(const Principal& who, const UserId& user);

// Returns the user whose data a query covers: the given one if permitted, otherwise the default.
Result<std::optional<UserId>> whom(const Principal& who, std::optional<UserId> user);

}  // namespace belay
