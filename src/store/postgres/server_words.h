#pragma once
// store/postgres/server_words.h - what an error of the server, or of libpq, means here, and what
// can be done about it: for messages.

#include <string_view>

#include "belay/result.h"

namespace belay::postgres {

// By an SQLSTATE.
ErrorCode code_of_state(std::string_view state);
std::string_view remedy_for_state(std::string_view state);
// libpq says in words only why there is no connection.
std::string_view remedy_for_no_connection(std::string_view text);

}  // namespace belay::postgres
