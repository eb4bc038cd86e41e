#pragma once
// rules/inflection.h - whether a word of a text is a listed word in another of its forms.
//
// A stemmer alone can't tell: "poor" and "poorly" share a stem, as do "mareado" and "marido". What
// counts is inflection: plurals, and the forms of a regular verb. A word that is derived from
// another one ("hospitalidad" from "hospital") is another word, and is listed by itself.
//
// Words are folded as words_of() does it. Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

// A word as the lexicon lists it.
struct ListedWord {
  std::string folded;
  bool exact = false;  // "=word": no other form
  // What it has in common with its forms: English words with their plurals and verb forms; Spanish
  // participles ("cansado") in number and gender, verbs (an infinitive, gerund or preterite) in all
  // of their forms, other words in number alone.
  std::vector<std::string> keys;
};

// `written`: as it stands in the lexicon, with its accents; they tell "lloré" from "llore".
ListedWord listed_word(Language language, std::string_view written);

// The keys of a word of a text: it is a form of the listed words that have one of them.
std::vector<std::string> keys_of(Language language, std::string_view word);

bool is_form_of(Language language, std::string_view word, const ListedWord& listed);

}  // namespace belay::rules
