#pragma once
// rules/language.h - detects the language of a text.

#include <string_view>

#include "agents/rules/words.h"

namespace belay::rules {

enum class Language { unknown, en, es };

// Converts to "en", "es" or "unknown", and back; any other name is unknown.
std::string_view name_of(Language language);
Language language_named(std::string_view name);

// The numbers of stop words of each language in a text. `other` is the maximum over the languages
// that are recognised but not supported, so that French is not mistaken for Spanish.
struct LanguageVotes {
  std::size_t words = 0;
  std::size_t en = 0;
  std::size_t es = 0;
  std::size_t other = 0;
};

LanguageVotes count_votes(const Words& words);
// Returns the language with the most votes; unknown if they are too few for the text's length, or
// in case of a tie.
Language winner(const LanguageVotes& votes);

}  // namespace belay::rules
