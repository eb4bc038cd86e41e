#pragma once
// base/characters.h - control characters of ASCII, and the number and offsets of characters of
// UTF-8.

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

// Returns the offset in bytes of a character; the size if there are fewer. REQUIRES: well-formed
// UTF-8.
constexpr std::size_t offset_of_character(std::string_view text, std::size_t character) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool begins_character = (text[at] & 0xC0) != 0x80;
    if (begins_character && character-- == 0) return at;
  }
  return text.size();
}

}  // namespace belay
