#pragma once
// rules/hits.h - finds the lexicon's phrases in one note, with category and weight.

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
  bool denied = false;       // a negator turned it
};

// A note, prepared for matching.
struct NoteText {
  std::string bytes;  // readable() of the note; of equal length
  Words words;
  Language language = Language::unknown;
  std::vector<Span> sentences;
};

// Returns whether the word, folded, denies the words after it: "not", "sin".
bool is_negator(std::string_view word);

// Returns all phrases except crisis phrases, in text order; empty if the language is unknown.
//
// A negator up to three words before a phrase, without punctuation between them, changes a burden
// to a small relief and a positive phrase to a small burden ("not happy": low_mood). Intensifiers
// multiply the weight by 1.3, diminishers by 0.7. Hours of sleep have category `sleep` if they are
// few, `positive` if they are sufficient.
std::vector<Hit> hits_of(const NoteText& note);

// Hours of sleep that the words starting at token `at` state ("slept four hours", "4 horas de
// sueño", "30 horas sin dormir"); nullopt if they state none.
struct SleepHours {
  double hours = 0;
  bool awake = false;   // hours without sleep
  std::size_t end = 0;  // the token after the last one that belongs to it
};
std::optional<SleepHours> sleep_hours_at(const Words& words, std::size_t at, std::size_t limit);

}  // namespace belay::rules
