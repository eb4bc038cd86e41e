#pragma once
// agents/research/filings/text_lines.h - lines, blanks and code points of a filing's text.
//
// The text is any bytes. A byte that is not valid UTF-8 counts as one code point and is not a
// blank. All functions are pure.

#include <cstddef>
#include <string_view>

namespace belay::research {

// Half-open range of bytes.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
  bool contains(std::size_t offset) const { return offset >= begin && offset < end; }
  bool operator==(const TextSpan&) const = default;
};

struct TextLine {
  TextSpan span;         // without the line feed, and without one carriage return before it
  std::size_t next = 0;  // where the next line begins, or the size of the text
};

// Returns the line that begins at `begin`. Requires begin < text.size().
TextLine line_at(std::string_view text, std::size_t begin);

// Removes the first line from `text` and returns it, without its line feed.
std::string_view take_line(std::string_view& text);
// Removes the first word and the spaces before it from `line` and returns it; empty at the end.
std::string_view take_word(std::string_view& line);

// Returns the bytes of the blank at `at`: 1 for a space or a tab, 2 for U+00A0, otherwise 0.
std::size_t blank_size(std::string_view text, std::size_t at);
// In contrast to it, the narrow spaces U+2000 to U+200B and U+202F are blanks.
std::size_t wide_blank_size(std::string_view text, std::size_t at);

// Returns the text without blanks at its ends.
std::string_view trimmed_blanks(std::string_view text);

// Returns the bytes of the code point at `at`, 0 if they are not valid UTF-8. Requires
// at < text.size().
std::size_t code_point_size(std::string_view text, std::size_t at);

std::size_t count_code_points(std::string_view text);

bool is_valid_utf8(std::string_view text);

// Lines with a "|" are rows of a table, all others are prose.
inline bool is_prose(std::string_view line) { return line.find('|') == std::string_view::npos; }

}  // namespace belay::research
