#pragma once
// http/ascii.h - compares and classifies ASCII characters as HTTP does, independently of the
// locale.

#include <algorithm>
#include <string_view>

namespace belay::http {

constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool equal_letters(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

constexpr bool is_letter_or_digit(char letter) {
  return is_digit(letter) || (lower(letter) >= 'a' && lower(letter) <= 'z');
}

// RFC 9110, section 5.6.2: the characters of methods and header names.
constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return is_letter_or_digit(letter) ||
           std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
  });
}

constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace belay::http
