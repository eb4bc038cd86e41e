#pragma once
// store/postgres/sqlstate_messages.h - maps SQLSTATEs and libpq errors to error codes and remedies.

#include <string_view>

#include "belay/result.h"
#include "store/postgres/address.h"

namespace belay::postgres {

// These expect an SQLSTATE.
ErrorCode code_of_state(std::string_view state);
std::string_view remedy_for_state(std::string_view state);
// Returns a remedy for libpq's message about a failed connection, which has no SQLSTATE.
std::string_view remedy_for_no_connection(std::string_view text);
// The Error of a server that can be reached, but is a standby or set to read-only.
Error no_writes_at(const Address& address, bool is_standby);

}  // namespace belay::postgres
