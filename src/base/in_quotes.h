#pragma once
// base/in_quotes.h - puts a name into double quotes, for messages.

#include <string>
#include <string_view>

namespace belay {

inline std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

}  // namespace belay
