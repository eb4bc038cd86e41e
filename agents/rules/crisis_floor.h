#pragma once
// rules/crisis_floor.h - wordings of a wish to die, of self-harm or of a plan, in any text.
//
// To be run over the answer of any model: raised() lifts a risk level to the floor that the text
// itself sets, and never lowers one. Nothing cancels a phrase - no negation, no cheerful words
// around it, no third person - but an idiom that the lexicon lists. False alarms are preferred. It
// finds the wordings that it lists, in English and Spanish, and no others: no floor is no
// all-clear.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

struct CrisisPhrase {
  std::string text;            // the words as written (readable() of them)
  std::size_t text_index = 0;  // which of the texts
  Span span;                   // bytes of that text
  int level = 8;               // 8 indirect wording, 9 a wish, 10 a plan or an act
  friend bool operator==(const CrisisPhrase&, const CrisisPhrase&) = default;
};

struct CrisisFloor {
  std::optional<int> minimum;         // 8 to 10: the highest level of the phrases
  std::vector<CrisisPhrase> phrases;  // in the order of the texts
  friend bool operator==(const CrisisFloor&, const CrisisFloor&) = default;
};

// Any bytes will do; both languages are always looked for.
CrisisFloor crisis_floor(const std::vector<std::string>& texts);

// The crisis phrases of one text. REQUIRES: `text` is readable() and `words` are its words.
std::vector<CrisisPhrase> crisis_phrases(std::string_view text, const Words& words,
                                         std::size_t text_index);

// The higher of the two.
int raised(int model_level, const CrisisFloor& floor);

}  // namespace belay::rules
