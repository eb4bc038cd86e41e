#pragma once
// agents/research/filings/distinct_words.h - counts the different words of a text.
//
// Sorts instead of hashing: no text can make it slow, and memory is in proportion to the different
// words, not to all.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace belay::research {

class DistinctWords {
 public:
  // Adds a word of ASCII letters; case is ignored. The word's bytes must exist until count().
  void add(std::string_view word);
  std::uint64_t count();

 private:
  static constexpr std::size_t kKeptMin = 16'384;

  void compact_short();
  void compact_long();

  std::vector<std::uint64_t> short_;  // words of up to 12 letters, five bits a letter
  std::size_t short_limit_ = kKeptMin;
  std::vector<std::string_view> long_;
  std::size_t long_limit_ = kKeptMin;
};

}  // namespace belay::research
