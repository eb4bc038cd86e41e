#pragma once
// agents/research/filings/phrases.h - searches a filing's text for phrases.
//
// A phrase is searched for in all lines, rows of tables included, whatever the case, the white
// space and the line breaks between its words. It may be a part of longer words.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agents/research/filings/ten_k_text.h"

namespace belay::research {

// The text in the form that is searched, a copy of at most the same size. The bytes that it was
// made of must outlive it.
class PhraseText {
 public:
  // Of a whole document.
  explicit PhraseText(std::string_view document);
  // Of an item's text.
  PhraseText(std::string_view document, const TenKItem& item);

  // Returns how often the phrase occurs, without overlaps, from the start. Requires a phrase in
  // lower case, with single spaces inside only.
  std::uint64_t count(std::string_view phrase) const;
  // Returns the range of the first occurrence in the document.
  std::optional<TextSpan> first(std::string_view phrase) const;

 private:
  PhraseText(std::string_view document, TextSpan part, PartLines part_lines);

  const std::string_view document_;
  const TextSpan part_;
  const PartLines part_lines_;
  std::string text_;  // in lower case, each run of white space as one space
};

}  // namespace belay::research
