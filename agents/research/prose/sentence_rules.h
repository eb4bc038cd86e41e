#pragma once
// agents/research/prose/sentence_rules.h - the sentences of a model that a report may contain.
//
// All functions are pure and accept any bytes.

#include <cstddef>
#include <string_view>
#include <vector>

#include "agents/research/prose/filing_excerpt.h"

namespace belay::research {

inline constexpr std::size_t kSentenceBytesMax = 400;

// Returns whether the text is one line of plain prose: valid UTF-8, at least four words, at most
// kSentenceBytesMax bytes, without markup, links and braces.
bool is_plain_sentence(std::string_view sentence);

// Returns whether the sentence recommends a transaction, or rates or prices the shares.
bool has_advice(std::string_view sentence);

// Returns whether one of the quotes contains each number of the sentence, in the same form: with
// its sign, currency and unit ("$391.0 billion"), as digits or as words. A cut quote does not
// change the unit of a number. A word with a digit ("H100") is a number, too.
bool numbers_are_quoted(std::string_view sentence, const std::vector<QuotePlace>& quotes);

// Returns whether one of the quotes contains each character of the sentence that is not ASCII,
// except typographic punctuation: digits and letters of other scripts are not invented.
bool characters_are_quoted(std::string_view sentence, const std::vector<QuotePlace>& quotes);

}  // namespace belay::research
