#pragma once
// rules/risk_signs.h - signs of a day that no single word shows: the categories of the lexicon, the
// crisis phrases and who they are about, the length, and the person and time of each sentence.
//
// Threading: pure functions.

#include <string>
#include <vector>

#include "agents/rules/risk_features.h"

namespace belay::rules {

// A sign: a name, equal for equal signs, and the tokens of a note that show it.
struct RiskSign {
  std::string name;
  std::uint32_t note = 0;
  std::uint32_t first_token = 0;
  std::uint32_t last_token = 0;
};

// Returns the signs of a day, in any order; some more than once.
std::vector<RiskSign> risk_signs(const std::vector<RiskNote>& notes);

}  // namespace belay::rules
