#pragma once
// agents/research/filings/text_words.h - words, syllables and sentence ends of one line of a text.
//
// A word is a maximal run of at least two ASCII letters: "company's" contains "company", "don't"
// contains "don". All functions are pure.

#include <cstddef>
#include <string_view>

#include "agents/research/filings/text_lines.h"

namespace belay::research {

inline char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline bool is_ascii_letter(char c) { return lower_ascii(c) >= 'a' && lower_ascii(c) <= 'z'; }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// Returns whether `text` begins with `start`, ignoring ASCII case. Requires `start` in lower case.
bool starts_with_ignoring_case(std::string_view text, std::string_view start);

// Calls `visit(word)` for each word of `text`, in order, with its range. Any letter that `text`
// ends with ends a word: pass whole lines.
template <typename Visit>
void for_each_word(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_ascii_letter(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_ascii_letter(text[at])) ++at;
    if (at - begin >= 2) visit(TextSpan{begin, at});
  }
}

// Returns the syllables of a word: its runs of the vowels a, e, i, o, u, y, minus one if it ends in
// "e" but not in "le"; at least 1.
std::size_t syllables(std::string_view word);

// Returns the sentence ends of a line: each ".", "!" or "?" before a space, a tab or the end.
std::size_t count_sentence_ends(std::string_view line);

}  // namespace belay::research
