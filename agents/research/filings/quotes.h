#pragma once
// agents/research/filings/quotes.h - verbatim quotes from a filing's text.
//
// A quote is a part of the file, byte for byte, and valid UTF-8 without control characters in its
// context. All functions are pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agents/research/filings/ten_k_text.h"

namespace belay::research {

struct Quote {
  std::string text;
  std::uint64_t offset = 0;  // in the file, in bytes

  bool operator==(const Quote&) const = default;
};

inline constexpr std::size_t kQuoteBytesMax = 300;

// Returns the sentence around `part`, within its line; the words around it if the sentence is
// longer than kQuoteBytesMax. Requires a part that is valid UTF-8 and not empty. Of a longer part,
// the quote is its start.
Quote quote_around(std::string_view text, TextSpan part);

// Returns the first sentence of a line, or of the rest of one, as a range of `text`; empty if no
// sentence ends there. In contrast to count_sentence_ends(), "Inc." and "U.S." end no sentence, and
// quotation marks may follow the end.
std::optional<TextSpan> next_sentence(std::string_view text, TextSpan line);

// Returns whether the text is valid UTF-8 without control characters other than tabs.
bool is_quotable(std::string_view text);

// Returns where the item's text contains the quote, byte for byte; empty if nowhere, or if the
// quote is empty.
std::optional<std::uint64_t> find_quote(const TenKText& text, const TenKItem& item,
                                        std::string_view quote);

}  // namespace belay::research
