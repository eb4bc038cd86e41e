#pragma once
// agents/research/prose/phrase_words.h - finds words and phrases in a short text.

#include <span>
#include <string>
#include <string_view>

namespace belay::research {

// Returns the runs of ASCII letters in lower case, with one space before and after each:
// " the company s products ". Everything else separates words.
std::string spaced_words(std::string_view text);

// Returns whether the words contain one of the phrases, which consist of lower-case words.
bool contains_phrase(std::string_view words, std::span<const std::string_view> phrases);

// Returns a text for display in one line: at most `bytes_max` bytes of it, cut between code points,
// with spaces for control characters; empty if the text is not valid UTF-8.
std::string shown_text(std::string_view text, std::size_t bytes_max);

}  // namespace belay::research
