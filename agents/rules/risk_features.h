#pragma once
// rules/risk_features.h - the features of a day that the risk classifier weighs.
//
// Five blocks: words and word sequences, letter sequences (for misspellings), concepts of both
// languages and their order, word starts (a stem without a grammar), and signs (risk_signs.h). A
// feature is a hash and counts once a day, however often it occurs.
//
// Threading: pure functions. Equal notes have equal features, on every machine.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

inline constexpr std::size_t kRiskBlocks = 5;
inline constexpr std::array<std::string_view, kRiskBlocks> kRiskBlockNames = {
    "words", "letters", "concepts", "starts", "signs"};

struct RiskFeature {
  std::uint64_t hash = 0;
  std::uint32_t note = 0;         // index of the note of the first occurrence
  std::uint32_t first_token = 0;  // the tokens of that note that it covers
  std::uint32_t last_token = 0;
};

// The longest training day. Of a longer day, the classifier weighs the average of this many words.
inline constexpr std::size_t kRiskWordsMax = 120;

struct RiskFeatures {
  std::size_t words = 0;                                     // of the day
  std::array<std::vector<RiskFeature>, kRiskBlocks> blocks;  // each hash once, sorted by hash
};

// A note: `text` is readable(), `words` are its words.
struct RiskNote {
  std::string_view text;
  const Words* words = nullptr;
};

RiskFeatures risk_features(const std::vector<RiskNote>& notes);

}  // namespace belay::rules
