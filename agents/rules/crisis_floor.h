#pragma once
// rules/crisis_floor.h - finds phrases of a wish to die, of self-harm or of a plan, in any text.
//
// Applied to the reply of every model: raised() raises a risk level to the minimum that the text
// itself requires, and never lowers one. A statement of the writer about a wish, a plan or an act
// (statement.h) always counts. Another phrase is set aside if the classifier (risk_model.h) finds
// the texts unlike a day of crisis, or if an idiom of the lexicon covers it. Without a phrase,
// texts that are very much like a day of crisis require level 8. No result does not mean that there
// is no risk.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"
#include "agents/rules/risk_model.h"
#include "agents/rules/words.h"

namespace belay::rules {

struct CrisisPhrase {
  std::string text;            // readable() of the words as written
  std::size_t text_index = 0;  // index of the text
  Span span;                   // bytes of that text
  int level = 8;               // 8 indirect wording, 9 a wish, 10 a plan or an act
  bool statement = false;      // by the writer, about the writer, now: level 9 or 10 only
  friend bool operator==(const CrisisPhrase&, const CrisisPhrase&) = default;
};

struct CrisisFloor {
  std::optional<int> minimum;         // 8 to 10: the highest level of the phrases
  std::vector<CrisisPhrase> phrases;  // those that count, in the order of the texts
  std::vector<CrisisPhrase> set_aside;
  std::optional<int> score;  // by the classifier; unset for a few words or an unknown language
  bool resembles = false;    // the score is at the alarm
  std::vector<RiskReason> reasons;  // why the classifier raised the minimum or set phrases aside
  friend bool operator==(const CrisisFloor&, const CrisisFloor&) = default;
};

// Accepts any bytes; always searches for the phrases of both languages.
CrisisFloor crisis_floor(const std::vector<std::string>& texts);

// Returns the floor of texts with these phrases; `language` is that of most of them.
CrisisFloor floor_of(const std::vector<RiskNote>& texts, std::vector<CrisisPhrase> phrases,
                     Language language);

// Returns the crisis phrases of one text. Requires that `text` is readable() and `words` are its
// words.
std::vector<CrisisPhrase> crisis_phrases(std::string_view text, const Words& words,
                                         std::size_t text_index);

// The higher of the two.
int raised(int model_level, const CrisisFloor& floor);

}  // namespace belay::rules
