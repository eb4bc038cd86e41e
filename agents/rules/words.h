#pragma once
// rules/words.h - splits a text into words, folded for comparison, with their positions.
//
// Offsets are bytes of the given text. All functions are pure. readable() makes any bytes valid.

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
  bool pause_before = false;  // punctuation or a line break separates it from the previous token
};

struct Words {
  std::vector<Token> tokens;            // in text order; a contraction is two tokens of one span
  std::vector<std::string> vocabulary;  // the distinct words, folded; "" if over 64 bytes
};

// Returns the text as valid UTF-8 without NUL, of equal length: each invalid byte becomes '?', NUL
// and a single line break (a hard wrap, not a paragraph) become a space.
std::string readable(std::string_view text);

// Returns the words of `text`, folded: without case, accents (except the tilde of n) and invisible
// characters, with contractions expanded ("don't" and "dont": "do", "not"). Words of more than 64
// bytes become "". Requires valid UTF-8.
Words words_of(std::string_view text);

// Returns one word, folded as by words_of(), without expanding contractions.
std::string fold(std::string_view word);

// Returns the number of code points of valid UTF-8.
std::size_t code_points(std::string_view text);

// Returns whether a list, usually of words, contains this item.
template <typename List, typename Item>
bool has(const List& list, const Item& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace belay::rules
