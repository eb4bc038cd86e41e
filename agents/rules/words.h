#pragma once
// rules/words.h - the words of a text, folded for comparison, with where each stands.
//
// Offsets are bytes of the text as handed in. All functions are pure and take any bytes: see
// readable() for what is not UTF-8.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belay::rules {

// Half-open byte range.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

struct Token {
  Span span;
  std::uint32_t word = 0;     // index into Words::vocabulary
  bool pause_before = false;  // punctuation or a line break stands between it and the one before
};

struct Words {
  std::vector<Token> tokens;            // in text order; a contraction gives two, of one span
  std::vector<std::string> vocabulary;  // the distinct words, folded; "" for what is too long
};

// The same number of bytes, but valid UTF-8 without NUL: every invalid byte becomes '?', NUL and
// a lone line break (a hard wrap, not a paragraph) become a space.
std::string readable(std::string_view text);

// The words of `text`: no case, no accents (but for the tilde of n), no invisible characters,
// contractions spelled out ("don't" and "dont": "do", "not"). Words over 64 bytes are kept as "".
// REQUIRES: valid UTF-8.
Words words_of(std::string_view text);

// One word folded as words_of() does it, contractions left as they are.
std::string fold(std::string_view word);

// The number of code points of valid UTF-8.
std::size_t code_points(std::string_view text);

// True if a list, mostly of words, contains this item.
template <typename List, typename Item>
bool has(const List& list, const Item& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace belay::rules
