#include "agents/goals/characters.h"

#include <algorithm>

#include "belay/value.h"

namespace belay::goals {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

// Returns the offset of the character with this index, or the size of the text.
std::size_t offset_of(std::string_view text, std::int64_t index) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && index-- == 0) return i;
  }
  return text.size();
}

}  // namespace

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), starts_character);
}

std::string characters_of(std::string_view text, std::int64_t first, std::int64_t count) {
  text.remove_prefix(offset_of(text, std::max<std::int64_t>(first, 0)));
  return std::string(text.substr(0, offset_of(text, std::max<std::int64_t>(count, 0))));
}

std::string first_characters(std::string_view text, std::int64_t count) {
  return characters_of(text, 0, count);
}

std::string storable_text(std::string_view text) {
  std::string stored;
  while (auto invalid = first_invalid_utf8(text)) {
    stored.append(text.substr(0, *invalid)).append("?");
    text.remove_prefix(*invalid + 1);
  }
  stored.append(text);
  std::replace(stored.begin(), stored.end(), '\0', '?');
  return stored;
}

}  // namespace belay::goals
