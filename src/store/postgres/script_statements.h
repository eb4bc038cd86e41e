#pragma once
// store/postgres/script_statements.h - the statements of an SQL script, one by one: the extended
// protocol takes no more than one in a message.

#include <string_view>
#include <vector>

namespace belay::postgres {

// In their order, each with the comments before it and without its semicolon; they live as long as
// the script. Semicolons within quotes, comments and dollar quotes end nothing. A quote that is
// never closed goes to the end of the script: the server will say so.
std::vector<std::string_view> statements_of(std::string_view script);

}  // namespace belay::postgres
