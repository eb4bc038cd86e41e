#pragma once
// agents/research/specialists/extractive_summary.h - a summary without a model: quoted sentences.

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/quotes.h"
#include "agents/research/filings/ten_k_text.h"

namespace belay::research {

struct ExtractiveSummary {
  std::string item;              // "1A"
  std::vector<Quote> sentences;  // in the order of the filing
  // One sentence for the reader: that the summary is extractive, or why it is empty.
  std::string note;
};

inline constexpr std::size_t kSummarySentences = 6;
inline constexpr std::size_t kSummarySentenceBytesMax = 600;

// Returns the first informative sentences of an item: prose of eight words and more, without
// references to other parts of the filing; of Item 1A, sentences with a word of the list
// "negative". A null text has none.
ExtractiveSummary extractive_summary(const TenKText* text, std::string_view item,
                                     std::size_t sentences_max = kSummarySentences);

}  // namespace belay::research
