#pragma once
// rules/language.h - which of the languages that the rules know a text is written in.

#include <string_view>

#include "agents/rules/words.h"

namespace belay::rules {

enum class Language { unknown, en, es };

// "en", "es" or "unknown", and back; anything else is unknown.
std::string_view name_of(Language language);
Language language_named(std::string_view name);

// How many of a text's words are stop words of each language. `other` is the best of the languages
// that the rules do not know but recognise, so that French is not taken for Spanish.
struct LanguageVotes {
  std::size_t words = 0;
  std::size_t en = 0;
  std::size_t es = 0;
  std::size_t other = 0;
};

LanguageVotes count_votes(const Words& words);
// The language with most votes, if it has enough for the text's length and no tie.
Language winner(const LanguageVotes& votes);

}  // namespace belay::rules
