#pragma once
// net/ascii.h - ASCII letters and digits, independent of the locale; a search in a short list.

#include <algorithm>
#include <string>
#include <string_view>

namespace belay::net {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(), lower);
  return copy;
}

template <typename Items, typename Item>
bool has(const Items& items, const Item& item) {
  return std::find(std::begin(items), std::end(items), item) != std::end(items);
}

}  // namespace belay::net
