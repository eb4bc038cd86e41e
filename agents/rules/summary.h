#pragma once
// rules/summary.h - summarises a day by selecting sentences, quoted verbatim.

#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

struct ScoredSentence {
  std::string_view text;
  double score = 0;       // 0: no hit
  std::size_t focus = 0;  // byte offset in `text` of the first hit
};

// Returns at most three sentences, those with the highest scores (of equal ones, the earlier), in
// their original order, in at most `code_points_max` code points. If a single sentence is too long,
// it is cut between words around its focus and marked with "…". Requires sentences in valid UTF-8,
// and code_points_max >= 20.
std::string summary_of(const std::vector<ScoredSentence>& sentences, std::size_t code_points_max);

// Returns `text` with each run of white space as one space, cut to `code_points_max` as above.
std::string shortened(std::string_view text, std::size_t focus, std::size_t code_points_max);

}  // namespace belay::rules
