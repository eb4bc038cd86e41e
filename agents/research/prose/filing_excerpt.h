#pragma once
// agents/research/prose/filing_excerpt.h - the part of an item that a model receives, and the
// quotes from it.
//
// All functions are pure. The text of a filing is data from a third party: a paragraph that looks
// like an instruction to a model is not part of an excerpt.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/quotes.h"
#include "agents/research/filings/ten_k_text.h"

namespace belay::research {

struct ExcerptParagraph {
  std::string text;          // valid UTF-8 without control characters other than tabs
  std::uint64_t offset = 0;  // in the file, in bytes
};

struct FilingExcerpt {
  std::string item;  // "1A"
  std::vector<ExcerptParagraph> paragraphs;
  bool is_whole = true;          // has all paragraphs of the item
  std::size_t instructions = 0;  // paragraphs left out that look like instructions to a model
};

// Together with the instructions of a request, for the context of small local models.
inline constexpr std::size_t kExcerptBytesMax = 12'000;
inline constexpr std::size_t kExcerptParagraphBytesMax = 3'000;
inline constexpr std::size_t kParagraphWordsMin = 6;

// Returns paragraphs of an item in the order of the filing: all of them, or as many as fit into
// `bytes_max`, half of which is for the beginning of the item and half for its whole length. A
// paragraph is a prose line of kParagraphWordsMin words or more; of one that exceeds
// kExcerptParagraphBytesMax, the sentences up to there. A null text has none.
FilingExcerpt excerpt_of(const TenKText* text, std::string_view item,
                         std::size_t bytes_max = kExcerptBytesMax);

// A quote within a paragraph of an excerpt.
struct QuotePlace {
  const ExcerptParagraph* paragraph = nullptr;
  TextSpan span;  // of the paragraph's text

  std::string_view text() const { return span.of(paragraph->text); }
  // The bytes of the file, with their offset in it.
  Quote quote() const { return {std::string(text()), paragraph->offset + span.begin}; }
};

inline constexpr std::size_t kModelQuoteBytesMax = 500;
inline constexpr std::size_t kModelQuoteWordsMin = 4;

// Returns where a paragraph contains the quote, byte for byte, except that any run of blanks equals
// any other, and a line break in the quote is a blank. The place has the file's bytes. Empty if no
// paragraph contains it, if it begins or ends within a word or a number, or if it has too few words
// or too many bytes.
std::optional<QuotePlace> find_in_excerpt(const FilingExcerpt& excerpt, std::string_view quote);

}  // namespace belay::research
