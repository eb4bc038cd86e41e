#pragma once
// rules/inflection.h - recognises inflected forms of listed words in a text.
//
// A stemmer is not suitable: "poor" and "poorly" share a stem, as do "mareado" and "marido". Only
// inflections match: plurals, and the forms of a regular verb. A word needs its own entry in the
// lexicon if it is derived from another one ("hospitalidad" from "hospital").
//
// Words are folded as by words_of(). Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

// A word listed in the lexicon.
struct ListedWord {
  std::string folded;
  bool exact = false;  // "=word": matches no other form
  // Keys that it shares with its forms: English words with their plurals and verb forms; Spanish
  // participles ("cansado") in number and gender, verbs (an infinitive, gerund or preterite) in all
  // of their forms, other words only in number.
  std::vector<std::string> keys;
};

// `written`: as in the lexicon, with its accents: they distinguish "lloré" from "llore".
ListedWord listed_word(Language language, std::string_view written);

// Returns the keys of a word in a text: it is a form of the listed words that share one of them.
std::vector<std::string> keys_of(Language language, std::string_view word);

bool is_form_of(Language language, std::string_view word, const ListedWord& listed);

}  // namespace belay::rules
