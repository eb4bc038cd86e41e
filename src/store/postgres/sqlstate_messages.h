#pragma once
// store/postgres/sqlstate_messages.h - what an error of the server, or of libpq, means here, and
// what can be done about it: for messages.

#include <string_view>

#include "belay/result.h"
#include "store/postgres/address.h"

namespace belay::postgres {

// By an SQLSTATE.
ErrorCode code_of_state(std::string_view state);
std::string_view remedy_for_state(std::string_view state);
// libpq says in words only why there is no connection.
std::string_view remedy_for_no_connection(std::string_view text);
// Of a server that can be reached, and is a standby or set to read only.
Error no_writes_at(const Address& address, bool is_standby);

}  // namespace belay::postgres
