#pragma once
// agents/research/filings/text_measures.h - counts of words and sentences of a part of a filing.

#include <array>
#include <cstdint>
#include <string_view>

#include "agents/research/filings/text_lines.h"
#include "agents/research/filings/word_lists.h"

namespace belay::research {

// Counts over the prose lines of a part.
struct TextMeasures {
  std::uint64_t words = 0;
  std::uint64_t distinct_words = 0;
  std::uint64_t complex_words = 0;                     // of three syllables and more (Gunning 1952)
  std::uint64_t sentences = 0;                         // sentence ends
  std::array<std::uint64_t, kWordLists> in_list = {};  // words of each list

  bool operator==(const TextMeasures&) const = default;
};

// An item's text has no part of the form's lines "PART II"; the document has them.
enum class PartLines { kept, left_out };

// Measures the lines of `part`, which must begin and end where lines of `text` do.
TextMeasures measure_text(std::string_view text, TextSpan part, PartLines part_lines);

}  // namespace belay::research
