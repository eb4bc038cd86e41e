#include "agents/rules/language.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace belay::rules {
namespace {

// Stop words, folded as by words_of(). Words of two languages are in both lists, so that they
// cancel each other out.
constexpr auto kEnglish = std::to_array<std::string_view>(
    {"the",  "and",   "i",    "to",    "of",   "was",  "my",   "it",   "in",   "that", "with",
     "for",  "but",   "not",  "have",  "had",  "at",   "is",   "this", "so",   "we",   "he",
     "she",  "they",  "you",  "me",    "on",   "are",  "be",   "an",   "did",  "am",   "been",
     "from", "as",    "his",  "her",   "all",  "what", "will", "just", "do",   "no",   "by",
     "or",   "if",    "when", "would", "can",  "up",   "out",  "who",  "very", "more", "about",
     "them", "today", "were", "there", "than", "how",  "then", "him",  "again"});
constexpr auto kSpanish = std::to_array<std::string_view>(
    {"el",     "la",  "que",   "de",      "y",     "en",     "un",     "una", "los",  "las",
     "con",    "por", "para",  "mi",      "me",    "se",     "no",     "lo",  "pero", "muy",
     "como",   "he",  "hoy",   "ayer",    "mas",   "ha",     "su",     "al",  "del",  "es",
     "estoy",  "fue", "ya",    "nada",    "todo",  "esta",   "este",   "eso", "esto", "porque",
     "cuando", "sin", "yo",    "le",      "te",    "tengo",  "siento", "dia", "mis",  "sus",
     "nos",    "era", "solo",  "tan",     "o",     "a",      "ni",     "si",  "otra", "otro",
     "hace",   "ser", "estar", "tambien", "nadie", "estaba", "casa"});
constexpr auto kFrench = std::to_array<std::string_view>(
    {"je",   "le",   "la", "les",  "des",  "et",   "est",  "pas", "une",
     "suis", "dans", "ne", "pour", "avec", "mais", "tres", "du",  "au",
     "ai",   "qui",  "ce", "mon",  "ma",   "un",   "que",  "de",  "nuit"});
constexpr auto kPortuguese = std::to_array<std::string_view>(
    {"eu",    "nao",  "uma", "um", "os", "com", "mas", "minha", "meu", "estou",
     "muito", "hoje", "foi", "em", "na", "da",  "do",  "dos",   "no",  "que",
     "de",    "a",    "o",   "e",  "me", "se",  "por", "para",  "bem", "noite"});
constexpr auto kItalian = std::to_array<std::string_view>(
    {"il",    "che", "di",     "sono",  "per", "non", "ho",    "una",  "oggi",
     "molto", "mi",  "gli",    "della", "con", "la",  "un",    "e",    "le",
     "si",    "del", "questa", "notte", "io",  "ma",  "anche", "come", "lo"});
constexpr auto kGerman = std::to_array<std::string_view>(
    {"ich",  "und", "der",  "die", "das", "nicht", "ist",    "ein",  "eine",
     "habe", "mit", "mich", "zu",  "auf", "heute", "bin",    "sehr", "aber",
     "war",  "es",  "den",  "so",  "in",  "mir",   "wieder", "von",  "was"});
constexpr auto kCatalan = std::to_array<std::string_view>(
    {"amb", "els", "pero", "avui", "molt", "jo", "estic", "la", "de", "que", "no", "em", "i", "el",
     "un", "una", "meva", "nit"});

}  // namespace

std::string_view name_of(Language language) {
  switch (language) {
    case Language::en:
      return "en";
    case Language::es:
      return "es";
    case Language::unknown:
      break;
  }
  return "unknown";
}

Language language_named(std::string_view name) {
  if (name == "en") return Language::en;
  if (name == "es") return Language::es;
  return Language::unknown;
}

LanguageVotes count_votes(const Words& words) {
  const std::array<std::span<const std::string_view>, 7> lists = {
      kEnglish, kSpanish, kFrench, kPortuguese, kItalian, kGerman, kCatalan};
  // The lists that contain each distinct word: one lookup per word, also for a long text.
  std::vector<std::array<bool, 7>> member(words.vocabulary.size());
  for (std::size_t word = 0; word < words.vocabulary.size(); ++word) {
    for (std::size_t list = 0; list < lists.size(); ++list) {
      member[word][list] = has(lists[list], words.vocabulary[word]);
    }
  }
  std::array<std::size_t, 7> counts{};
  for (const Token& token : words.tokens) {
    for (std::size_t list = 0; list < lists.size(); ++list) {
      counts[list] += member[token.word][list] ? 1 : 0;
    }
  }
  return {words.tokens.size(), counts[0], counts[1],
          *std::max_element(counts.begin() + 2, counts.end())};
}

Language winner(const LanguageVotes& votes) {
  const std::size_t best = std::max(votes.en, votes.es);
  // At least a third of the words of a text in these languages are stop words; 8 % is a low
  // threshold.
  if (best == 0 || votes.en == votes.es || votes.other > best || best * 100 < votes.words * 8) {
    return Language::unknown;
  }
  return votes.en > votes.es ? Language::en : Language::es;
}

}  // namespace belay::rules
