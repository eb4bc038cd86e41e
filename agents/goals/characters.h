#pragma once
// goals/characters.h - texts of models and tools: counted and cut in characters of UTF-8.

#include <cstdint>
#include <string>
#include <string_view>

namespace belay::goals {

std::int64_t count_characters(std::string_view text);
// Returns the characters of valid UTF-8 from `first` on, at most `count`.
std::string characters_of(std::string_view text, std::int64_t first, std::int64_t count);
// Returns the first `count` characters.
std::string first_characters(std::string_view text, std::int64_t count);
// Returns the text with "?" for each byte that a state cannot store: invalid UTF-8, and NUL.
std::string storable_text(std::string_view text);

}  // namespace belay::goals
