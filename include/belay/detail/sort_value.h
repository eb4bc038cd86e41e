#pragma once
// belay/detail/sort_value.h - encodes the values of ordered indexes as texts that sort as the
// values do, byte by byte: big-endian numbers with the sign inverted, texts with a terminator, in
// hexadecimal digits. A compound value is the texts of its parts, one after another.

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "belay/clock.h"

namespace belay::detail {

inline void add_byte(std::string& text, std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  text += digits[byte >> 4];
  text += digits[byte & 15];
}

inline void add_word(std::string& text, std::uint64_t word) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    add_byte(text, static_cast<std::uint8_t>(word >> shift));
  }
}

// Without the terminator: the first part of all texts that begin with `value`.
inline void add_sort_prefix(std::string& text, std::string_view value) {
  for (char letter : value) add_byte(text, static_cast<std::uint8_t>(letter));
}

inline void add_sort_value(std::string& text, bool value) { add_byte(text, value ? 1 : 0); }

template <std::integral T>
  requires(!std::same_as<T, bool>)
void add_sort_value(std::string& text, T value) {
  if constexpr (std::signed_integral<T>) {
    auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    add_word(text, word ^ (std::uint64_t{1} << 63));
  } else {
    add_word(text, static_cast<std::uint64_t>(value));
  }
}

inline void add_sort_value(std::string& text, double value) {
  auto word = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);  // -0.0 equals 0.0
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  add_word(text, (word & sign) != 0 ? ~word : word | sign);
}

inline void add_sort_value(std::string& text, Instant value) {
  add_sort_value(text, std::int64_t{value.time_since_epoch().count()});
}

// U+0000 cannot occur in a text, so that no text has the terminator within it.
inline void add_sort_value(std::string& text, std::string_view value) {
  add_sort_prefix(text, value);
  add_byte(text, 0);
}
inline void add_sort_value(std::string& text, const std::string& value) {
  add_sort_value(text, std::string_view(value));
}
inline void add_sort_value(std::string& text, const char* value) {
  add_sort_value(text, std::string_view(value));
}

// An unset value precedes all others.
template <typename T>
void add_sort_value(std::string& text, const std::optional<T>& value) {
  add_byte(text, value ? 1 : 0);
  if (value) add_sort_value(text, *value);
}

// Returns the text of a value, or of the first parts of a compound one.
template <typename... Values>
std::string sort_value(const Values&... values) {
  std::string text;
  (add_sort_value(text, values), ...);
  return text;
}

// Returns the least text that is greater than all texts that begin with `prefix`; empty: no text
// is greater, because the prefix is empty.
inline std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == 'f') prefix.pop_back();
  if (!prefix.empty())
    prefix.back() = prefix.back() == '9' ? 'a' : static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace belay::detail
