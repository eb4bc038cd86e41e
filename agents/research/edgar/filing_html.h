#pragma once
// agents/research/edgar/filing_html.h - the text of a filing's document.
//
// Documents are HTML with inline XBRL, or plain text before 2001. Pure; time and memory are bounded
// for every input.

#include <string>
#include <string_view>

namespace belay::research {

struct FilingText {
  std::string text;      // UTF-8; see filing_lines.h
  bool is_whole = true;  // false: the document is too irregular to be read to its end
};

// Returns the text without hidden elements, the header of inline XBRL, scripts and pictures. Bytes
// that are not UTF-8 are read as Windows-1252.
FilingText text_of_html(std::string_view html);

// Returns the lines of a document in plain text: their spaces remain, and of several empty lines
// one.
FilingText text_of_plain(std::string_view document);

}  // namespace belay::research
