#pragma once
// rules/hits.h - what the lexicon finds in one note: which words, of which category, how heavy.

#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/lexicon.h"
#include "agents/rules/words.h"

namespace belay::rules {

struct Hit {
  Category category = Category::idiom;
  double weight = 0;         // after intensifiers and negation; never negative
  Span span;                 // bytes of the note, a negator included
  std::size_t sentence = 0;  // index into NoteText::sentences
};

// A note made ready for matching.
struct NoteText {
  std::string bytes;  // readable() of the note, the same length
  Words words;
  Language language = Language::unknown;
  std::vector<Span> sentences;
};

// Everything but crisis phrases, in text order; nothing for a note of unknown language.
//
// A negator up to three words before, with no punctuation between, turns a burden into a small
// relief and a good thing into a small burden ("not happy": low_mood). Intensifiers weigh 1.3,
// diminishers 0.7. Hours of sleep count as sleep: few as a burden, enough as positive.
std::vector<Hit> hits_of(const NoteText& note);

// The hours slept that the words speak of from token `at` on ("slept four hours", "4 horas de
// sueño", "30 horas sin dormir"), or nothing.
struct SleepHours {
  double hours = 0;
  bool awake = false;   // hours without sleep
  std::size_t end = 0;  // the token after the last one that belongs to it
};
std::optional<SleepHours> sleep_hours_at(const Words& words, std::size_t at, std::size_t limit);

}  // namespace belay::rules
