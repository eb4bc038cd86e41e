#pragma once
// agent/tool_name.h - the names of tools and the ids of calls that all providers accept: 1 to 64
// letters, digits, _ and -.

#include <algorithm>
#include <string>
#include <string_view>

namespace belay::agents {

inline constexpr std::size_t name_length_max = 64;

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Returns the text with "_" instead of every other character.
inline std::string with_name_characters(std::string text) {
  for (char& c : text) c = is_name_character(c) ? c : '_';
  return text;
}

constexpr bool is_sendable(std::string_view name) {
  return !name.empty() && name.size() <= name_length_max &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

}  // namespace belay::agents
