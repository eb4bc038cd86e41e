#pragma once
// agents/research/report/escaped_text.h - texts from outside, made safe for HTML and Markdown.

#include <cstddef>
#include <string>
#include <string_view>

namespace belay::research::report {

// Returns valid UTF-8 of one line: malformed bytes become U+FFFD, runs of blanks and line ends
// become one space, and characters that control a terminal or the direction of text are dropped.
// A text of more than `limit` bytes is cut between two characters and ends in an ellipsis.
std::string clean_text(std::string_view text, std::size_t limit);

// Returns clean text that is safe in elements and in quoted attributes.
std::string html_text(std::string_view text, std::size_t limit);

// Returns clean text that Markdown shows as it is, in a paragraph, a heading or a table's cell.
std::string markdown_text(std::string_view text, std::size_t limit);

// Returns a code span, for names. A backtick becomes an apostrophe.
std::string markdown_code(std::string_view text, std::size_t limit);

}  // namespace belay::research::report
