#include "agents/rules/inflection.h"

#include <algorithm>
#include <array>
#include <vector>

#include "agents/rules/words.h"

namespace belay::rules {
namespace {

// A shorter remainder is not a word: "bed" is not the past of "b".
constexpr std::size_t kBaseMin = 2;

bool has_vowel(std::string_view text) {
  return text.find_first_of("aeiouy") != std::string_view::npos;
}

bool ends_doubled(std::string_view text) {
  return text.size() > kBaseMin && text[text.size() - 1] == text[text.size() - 2];
}

// Adds the verbs of a text without "ed" or "ing": "quarrell" gives "quarrel", "hop" also "hope".
void add_verb_bases(std::string_view left, std::vector<std::string>& bases) {
  if (left.size() < kBaseMin || !has_vowel(left)) return;
  bases.emplace_back(left);
  bases.push_back(std::string(left) + "e");
  if (ends_doubled(left)) bases.emplace_back(left.substr(0, left.size() - 1));
}

std::string_view without(std::string_view word, std::size_t letters) {
  return word.substr(0, word.size() - letters);
}

// Returns the words of which an English word might be a form, including the word itself.
std::vector<std::string> english_bases(std::string_view word) {
  if (word.ends_with("'s")) word = without(word, 2);
  std::vector<std::string> bases = {std::string(word)};
  if (word.ends_with("ies") || word.ends_with("ied")) {
    bases.push_back(std::string(without(word, 3)) + "y");
  }
  if (word.ends_with("ying")) bases.push_back(std::string(without(word, 4)) + "ie");
  if (word.ends_with("ing")) add_verb_bases(without(word, 3), bases);
  if (word.ends_with("ed")) add_verb_bases(without(word, 2), bases);
  const bool is_plural = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") &&
                         !word.ends_with("is") && word.size() > kBaseMin;
  if (is_plural) bases.emplace_back(without(word, 1));
  if (is_plural && word.ends_with("es") && word.size() > kBaseMin + 1) {
    bases.emplace_back(without(word, 2));
  }
  return bases;
}

struct Ending {
  std::string_view letters;
  std::string_view verbs;  // endings of the infinitives that have this form: "ar", "er ir"
};

// Without accents, because many writers omit them.
constexpr auto kSpanishEndings = std::to_array<Ending>({
    {"ar", "ar"},         {"er", "er"},        {"ir", "ir"},       {"o", "ar er ir"},
    {"as", "ar er ir"},   {"a", "ar er ir"},   {"es", "ar er ir"}, {"e", "ar er ir"},
    {"amos", "ar er ir"}, {"emos", "ar er"},   {"imos", "er ir"},  {"ais", "ar er ir"},
    {"eis", "ar er"},     {"an", "ar er ir"},  {"en", "ar er ir"}, {"aste", "ar"},
    {"asteis", "ar"},     {"aron", "ar"},      {"i", "er ir"},     {"iste", "er ir"},
    {"io", "er ir"},      {"isteis", "er ir"}, {"ieron", "er ir"}, {"aba", "ar"},
    {"abas", "ar"},       {"abamos", "ar"},    {"abais", "ar"},    {"aban", "ar"},
    {"ia", "er ir"},      {"ias", "er ir"},    {"iamos", "er ir"}, {"ian", "er ir"},
    {"are", "ar"},        {"aras", "ar"},      {"ara", "ar"},      {"aremos", "ar"},
    {"aran", "ar"},       {"ere", "er"},       {"eras", "er"},     {"era", "er"},
    {"eremos", "er"},     {"eran", "er"},      {"ire", "ir"},      {"iras", "ir"},
    {"ira", "ir"},        {"iremos", "ir"},    {"iran", "ir"},     {"aria", "ar"},
    {"arias", "ar"},      {"ariamos", "ar"},   {"arian", "ar"},    {"eria", "er"},
    {"erias", "er"},      {"erian", "er"},     {"iria", "ir"},     {"irias", "ir"},
    {"irian", "ir"},      {"aramos", "ar"},    {"ase", "ar"},      {"ases", "ar"},
    {"asemos", "ar"},     {"asen", "ar"},      {"iera", "er ir"},  {"ieras", "er ir"},
    {"ieramos", "er ir"}, {"ieran", "er ir"},  {"iese", "er ir"},  {"ieses", "er ir"},
    {"iesemos", "er ir"}, {"iesen", "er ir"},  {"ando", "ar"},     {"iendo", "er ir"},
    {"ado", "ar"},        {"ada", "ar"},       {"ados", "ar"},     {"adas", "ar"},
    {"ido", "er ir"},     {"ida", "er ir"},    {"idos", "er ir"},  {"idas", "er ir"},
});

// "lloré", "discutí", "gritó": endings of the preterite that nouns do not have.
constexpr auto kPreterites = std::to_array<Ending>({{"é", "ar"},
                                                    {"í", "er ir"},
                                                    {"ió", "er ir"},
                                                    {"ó", "ar"},
                                                    {"amos", "ar"},
                                                    {"imos", "er ir"},
                                                    {"aron", "ar"},
                                                    {"ieron", "er ir"},
                                                    {"ando", "ar"},
                                                    {"iendo", "er ir"}});

// Calls `found` with each infinitive of which `word` might be a form.
template <typename Endings, typename Found>
void each_infinitive(std::string_view word, const Endings& endings, Found found) {
  for (const Ending& ending : endings) {
    if (!word.ends_with(ending.letters)) continue;
    const std::string_view left = without(word, ending.letters.size());
    if (left.size() < kBaseMin) continue;
    for (std::size_t at = 0; at < ending.verbs.size(); at += 3) {
      found(std::string(left) + std::string(ending.verbs.substr(at, 2)));
    }
  }
}

// Returns "cansad" for "cansados" or "cansada"; empty if the word is not a participle.
std::string_view participle_stem(std::string_view word) {
  if (word.ends_with('s')) word = without(word, 1);
  for (std::string_view ending : {"ado", "ada", "ido", "ida"}) {
    if (word.size() > ending.size() + 1 && word.ends_with(ending)) return without(word, 1);
  }
  return "";
}

bool is_infinitive(std::string_view word) {
  constexpr std::size_t shortest = 4;
  return word.size() >= shortest &&
         (word.ends_with("ar") || word.ends_with("er") || word.ends_with("ir"));
}

// Adds the word, and the words of which it might be the plural.
void add_singulars(std::string_view word, std::vector<std::string>& keys) {
  keys.emplace_back(word);
  if (!word.ends_with('s') || word.size() <= kBaseMin) return;
  keys.emplace_back(without(word, 1));
  if (word.ends_with("es")) keys.emplace_back(without(word, 2));
  if (word.ends_with("ces")) keys.push_back(std::string(without(word, 3)) + "z");
}

// Keys of participles and infinitives are distinct from all words.
std::string participle_key(std::string_view stem) { return std::string(stem) + "*"; }
std::string verb_key(const std::string& infinitive) { return infinitive + "+"; }

std::vector<std::string> spanish_keys(std::string_view word) {
  std::vector<std::string> keys;
  add_singulars(word, keys);
  const std::string_view stem = participle_stem(word);
  if (!stem.empty()) keys.push_back(participle_key(stem));
  each_infinitive(word, kSpanishEndings,
                  [&](const std::string& verb) { keys.push_back(verb_key(verb)); });
  return keys;
}

std::vector<std::string> listed_spanish_keys(std::string_view written, const std::string& folded) {
  const std::string_view stem = participle_stem(folded);
  if (!stem.empty()) return {folded, participle_key(stem)};
  std::vector<std::string> keys;
  if (is_infinitive(folded)) keys.push_back(verb_key(folded));
  each_infinitive(written, kPreterites,
                  [&](const std::string& verb) { keys.push_back(verb_key(fold(verb))); });
  if (keys.empty()) {
    add_singulars(folded, keys);
  } else {
    keys.push_back(folded);
  }
  return keys;
}

}  // namespace

ListedWord listed_word(Language language, std::string_view written) {
  const bool exact = written.starts_with('=');
  ListedWord listed{fold(exact ? written.substr(1) : written), exact, {}};
  if (exact) {
    listed.keys = {"=" + listed.folded};
  } else if (language == Language::es) {
    listed.keys = listed_spanish_keys(written, listed.folded);
  } else {
    listed.keys = english_bases(listed.folded);
  }
  return listed;
}

std::vector<std::string> keys_of(Language language, std::string_view word) {
  auto keys = language == Language::es ? spanish_keys(word) : english_bases(word);
  keys.push_back("=" + std::string(word));
  return keys;
}

bool is_form_of(Language language, std::string_view word, const ListedWord& listed) {
  const std::vector<std::string> keys = keys_of(language, word);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return has(listed.keys, key); });
}

}  // namespace belay::rules
