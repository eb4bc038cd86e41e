#pragma once
// base/trimmed.h - removes leading and trailing white space.

#include <string_view>

namespace belay {

constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  std::size_t first = text.find_first_not_of(white);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

}  // namespace belay
