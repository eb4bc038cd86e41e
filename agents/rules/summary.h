#pragma once
// rules/summary.h - the sentences that stand for a day, word for word.

#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

struct ScoredSentence {
  std::string_view text;
  double score = 0;       // 0: nothing was found in it
  std::size_t focus = 0;  // byte offset in `text` of what was found first
};

// At most three of the sentences, those with the highest scores (earlier ones first among
// equals), in their order, in at most `code_points_max` code points. A sentence that is too long
// by itself is cut between words around its focus and marked with "…".
// REQUIRES: sentences are valid UTF-8; code_points_max >= 20.
std::string summary_of(const std::vector<ScoredSentence>& sentences, std::size_t code_points_max);

// `text` with every run of white space as one space, cut to `code_points_max` as above.
std::string shortened(std::string_view text, std::size_t focus, std::size_t code_points_max);

}  // namespace belay::rules
