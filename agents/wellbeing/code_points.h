#pragma once
// wellbeing/code_points.h - converts text to code points, to cut and compare users' text.

#include <string>
#include <string_view>

namespace belay::wellbeing {

// Accepts any bytes; each byte that is not valid UTF-8 becomes U+FFFD.
std::u32string code_points_of(std::string_view utf8);
std::string utf8_of(std::u32string_view code_points);

// Returns the number of code points of `utf8`.
std::size_t count_code_points(std::string_view utf8);

// Returns whether the code point has Unicode's White_Space property.
bool is_white(char32_t c);

// Returns the text without white space at both ends, and each inner run of it as one space.
std::string one_line(std::string_view utf8);

}  // namespace belay::wellbeing
