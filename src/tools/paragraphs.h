#pragma once
// tools/paragraphs.h - divides a text or an HTML document into paragraphs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belay::tools {

struct Paragraph {
  std::int64_t line = 1;  // where it begins, from 1
  std::string text;       // white space is one space
};

// A longer paragraph is divided, at white space if it has any.
inline constexpr std::size_t paragraph_bytes_max = 2'000;

// Paragraphs are separated by empty lines. REQUIRES: UTF-8, here and below.
std::vector<Paragraph> paragraphs_of_text(std::string_view text);

// The text of a document: without tags, comments, scripts and styles. Not a parser of HTML: text
// after a tag or comment that does not end is lost. Linear in the size of the document.
std::vector<Paragraph> paragraphs_of_html(std::string_view html);

}  // namespace belay::tools
