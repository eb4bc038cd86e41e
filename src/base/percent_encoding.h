#pragma once
// base/percent_encoding.h - a text as it may stand in a path or a query (RFC 3986, section 2.1).

#include <string>
#include <string_view>

namespace belay {

// All but letters, digits and "-._~" as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace belay
