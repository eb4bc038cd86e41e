#pragma once
// cli/suggestions.h - suggests a known name that resembles an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

// Returns ` Did you mean "topic"?` if a known name resembles `name`, otherwise the list of all
// known names.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace belay::cli
