#pragma once
// wellbeing/code_points.h - text by the character, for cutting and comparing people's words.

#include <string>
#include <string_view>

namespace belay::wellbeing {

// Takes any bytes; what is not UTF-8 becomes U+FFFD, byte by byte.
std::u32string code_points_of(std::string_view utf8);
std::string utf8_of(std::u32string_view code_points);

// How many code points `utf8` has.
std::size_t count_code_points(std::string_view utf8);

// White space as Unicode's White_Space property names it.
bool is_white(char32_t c);

// Without white space at both ends, and each run of it inside as one space.
std::string one_line(std::string_view utf8);

}  // namespace belay::wellbeing
