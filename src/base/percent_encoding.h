#pragma once
// base/percent_encoding.h - percent-encodes a text for a path or query (RFC 3986, section 2.1).

#include <string>
#include <string_view>

namespace belay {

// Encodes all bytes except ASCII letters, digits and "-._~" as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace belay
