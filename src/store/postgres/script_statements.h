#pragma once
// store/postgres/script_statements.h - splits an SQL script into statements.
//
// The extended protocol accepts only one statement per message.

#include <string_view>
#include <vector>

namespace belay::postgres {

// Returns the statements in order, each with the comments before it and without its semicolon, as
// views of the script. Semicolons within quotes, comments and dollar quotes end no statement. A
// quote without an end extends to the end of the script; the server then rejects the statement.
std::vector<std::string_view> statements_of(std::string_view script);

}  // namespace belay::postgres
