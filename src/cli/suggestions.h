#pragma once
// cli/suggestions.h - which of the known names somebody may have meant.

#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

// ` Did you mean "topic"?` for a name that is near enough to a known one, else the list of all:
// " What there is: draft, topic."
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace belay::cli
