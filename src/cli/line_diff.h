#pragma once
// cli/line_diff.h - the difference between two texts, line by line.
//
// Threading: any thread.

#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

// One line of the result: "  " for a line of both texts, "- " of the former, "+ " of the new one,
// then the line. Unchanged lines that are further than `around` from a change are left out, with
// "..." in their place. Texts of more than `lines_max` lines are shown one after the other.
std::vector<std::string> line_diff(std::string_view before, std::string_view after,
                                   std::size_t around = 2, std::size_t lines_max = 2'000);

}  // namespace belay::cli
