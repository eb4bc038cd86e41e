#pragma once
// base/rfc3339.h - timestamps of other programs.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "belay/clock.h"

namespace belay {

// Reads a timestamp of RFC 3339, also as the JSON form of Protocol Buffers: with `Z` or an offset
// such as +01:00, and with 0 to 9 digits of a second, of which the first 6 count. The years are 1
// to 9999, in UTC, too. nullopt for any other text.
std::optional<Instant> instant_from_rfc3339(std::string_view text);

}  // namespace belay
