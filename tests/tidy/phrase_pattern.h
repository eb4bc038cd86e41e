#pragma once
// tests/tidy/phrase_pattern.h - patterns of phrases: words, (a|b), ( x)? and \w+.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belay::tidy {

// A word of a pattern that matches any word.
inline constexpr std::string_view kAnyWord = "\\w+";

// Every sequence of words that `pattern` matches, without duplicates; nullopt if it is malformed:
// an unbalanced parenthesis, an empty alternative, or part of a word in parentheses.
std::optional<std::vector<std::vector<std::string>>> expand_pattern(std::string_view pattern);

}  // namespace belay::tidy
