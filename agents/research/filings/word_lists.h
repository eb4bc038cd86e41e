#pragma once
// agents/research/filings/word_lists.h - the word lists of tone, and those of the risk categories.
//
// The lists are this project's: word_lists.txt. Immutable after reading: concurrent reads are safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace belay::research {

// All lists by number: first those of tone, then the risk categories, in the order of
// docs/research.md.
inline constexpr std::size_t kToneLists = 7;
inline constexpr std::size_t kRiskCategories = 12;
inline constexpr std::size_t kWordLists = kToneLists + kRiskCategories;
inline constexpr std::array<std::string_view, kWordLists> kWordListNames = {
    "negative",        "positive",      "uncertainty",      "litigious",     "constraining",
    "modal_weak",      "modal_strong",  "competition",      "supply_chain",  "demand",
    "technology",      "cyber_privacy", "regulation",       "litigation",    "geopolitics_trade",
    "macro_financial", "people",        "climate_disaster", "tax_accounting"};

inline constexpr std::size_t kNegative = 0;
inline constexpr std::size_t kPositive = 1;
inline constexpr std::size_t kUncertainty = 2;
inline constexpr std::size_t kLitigious = 3;
inline constexpr std::size_t kModalWeak = 5;

// A set of lists: bit N is set if list N belongs to it.
using WordListSet = std::uint32_t;
inline constexpr WordListSet bit_of(std::size_t list) { return WordListSet{1} << list; }

class WordLists {
 public:
  // Reads a text in the format of word_lists.txt. See error().
  static WordLists read(std::string_view text);
  static const WordLists& built_in();

  // Empty, or why the text is wrong: "line 3: 'Abc' is not a word of small letters".
  const std::string& error() const { return error_; }

  // Returns the lists that contain the word. Ignores ASCII case.
  WordListSet lists_with(std::string_view word) const;
  // Returns the number of words in a list. Requires list < kWordLists.
  std::size_t size(std::size_t list) const { return sizes_[list]; }

 private:
  void add(std::string_view word, std::size_t list);

  std::unordered_map<std::string, WordListSet> lists_;  // by word
  std::array<std::size_t, kWordLists> sizes_{};
  std::size_t longest_ = 0;  // of the words, in bytes
  std::string error_;
};

}  // namespace belay::research
