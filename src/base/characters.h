#pragma once
// base/characters.h - control characters of ASCII, and the number of characters of UTF-8.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace belay {

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_control);
}

// REQUIRES: well-formed UTF-8.
constexpr std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace belay
