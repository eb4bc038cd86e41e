#pragma once
// rules/crisis_floor.h - finds phrases of a wish to die, of self-harm or of a plan, in any text.
//
// Applied to the reply of every model: raised() raises a risk level to the minimum that the text
// itself requires, and never lowers one. Only an idiom of the lexicon cancels a phrase; a negation,
// cheerful words around it or the third person do not. False alarms are preferred. It finds only
// the listed phrases, in English and Spanish: no result does not mean that there is no risk.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {

struct CrisisPhrase {
  std::string text;            // readable() of the words as written
  std::size_t text_index = 0;  // index of the text
  Span span;                   // bytes of that text
  int level = 8;               // 8 indirect wording, 9 a wish, 10 a plan or an act
  friend bool operator==(const CrisisPhrase&, const CrisisPhrase&) = default;
};

struct CrisisFloor {
  std::optional<int> minimum;         // 8 to 10: the highest level of the phrases
  std::vector<CrisisPhrase> phrases;  // in the order of the texts
  friend bool operator==(const CrisisFloor&, const CrisisFloor&) = default;
};

// Accepts any bytes; always searches for the phrases of both languages.
CrisisFloor crisis_floor(const std::vector<std::string>& texts);

// Returns the crisis phrases of one text. Requires that `text` is readable() and `words` are its
// words.
std::vector<CrisisPhrase> crisis_phrases(std::string_view text, const Words& words,
                                         std::size_t text_index);

// The higher of the two.
int raised(int model_level, const CrisisFloor& floor);

}  // namespace belay::rules
