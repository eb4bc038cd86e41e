#pragma once
// rules/lexicon.h - lexicon of the phrases that the rules search for, compiled from lexicon_*.tsv.
//
// lexicon_en.tsv documents the format. To add a language: write its file, add it to
// CMakeLists.txt, to Language and to lexicon_of().
//
// Threading: a Lexicon is immutable after read(); a LexiconView is used by one analysis.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/rules/inflection.h"
#include "agents/rules/language.h"
#include "agents/rules/words.h"
#include "belay/result.h"

namespace belay::rules {

enum class Category {
  crisis,
  low_mood,
  anxiety,
  sleep,
  conflict,
  exhaustion,
  illness,
  substance,
  isolation,
  positive,
  coping,
  idiom,
};
inline constexpr std::size_t kCategories = 12;

std::string_view name_of(Category category);
std::optional<Category> category_named(std::string_view name);
// Returns whether the category raises the risk level by its weight: all except crisis, positive,
// coping and idiom.
bool is_burden(Category category);

struct Entry {
  std::string phrase;  // as written in the file
  Category category = Category::idiom;
  double weight = 0;
  std::vector<std::int32_t> elements;  // indexes of listed words; kGap for ".."
};

class Lexicon {
 public:
  static constexpr std::int32_t kGap = -2;

  // Reads the text of one lexicon file. Fails with `invalid`, naming the line, on a line without
  // three fields, an unknown category, a weight out of its range, or a phrase listed twice.
  static Result<Lexicon> read(Language language, std::string_view tsv);

  Language language() const { return language_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // Returns the words of all phrases, each once.
  const std::vector<ListedWord>& words() const { return words_; }
  // Returns the indexes of the listed words of which `word` is a form.
  std::vector<std::int32_t> numbers_of(std::string_view word) const;

 private:
  friend class LexiconView;

  explicit Lexicon(Language language) : language_(language) {}
  std::int32_t number_of(ListedWord word);
  void index();

  Language language_;
  std::vector<Entry> entries_;
  std::vector<ListedWord> words_;
  std::unordered_map<std::string, std::int32_t> numbers_;              // by word and keys
  std::unordered_map<std::string, std::vector<std::int32_t>> by_key_;  // of inflection.h
  std::vector<std::vector<std::uint32_t>> by_first_;  // entry numbers by word, longest first
};

// Returns the lexicon of a language. Requires a known language.
const Lexicon& lexicon_of(Language language);

// An occurrence of an entry: tokens [begin, end).
struct PhraseMatch {
  const Entry* entry = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Finds the entries of a lexicon in the words of one text; both must outlive it.
class LexiconView {
 public:
  LexiconView(const Lexicon& lexicon, const Words& words);

  // Returns the longest entry that starts at token `at`, ends at or before `limit` and is accepted
  // by `wanted(entry, end)`.
  template <typename Wanted>
  std::optional<PhraseMatch> longest(std::size_t at, std::size_t limit, Wanted wanted) const {
    std::optional<PhraseMatch> best;
    for (const std::int32_t word : listed_[words_.tokens[at].word]) {
      for (const std::uint32_t number : lexicon_.by_first_[static_cast<std::size_t>(word)]) {
        const Entry& entry = lexicon_.entries_[number];
        if (best && !is_longer(entry, *best->entry)) continue;
        const auto end = end_of(entry, at, limit);
        if (end && wanted(entry, *end)) best = PhraseMatch{&entry, at, *end};
      }
    }
    return best;
  }

 private:
  // Of two entries with equal length, the first one in the list has precedence.
  static bool is_longer(const Entry& entry, const Entry& than) {
    if (entry.elements.size() != than.elements.size()) {
      return entry.elements.size() > than.elements.size();
    }
    return &entry < &than;
  }
  std::optional<std::size_t> end_of(const Entry& entry, std::size_t at, std::size_t limit) const;
  std::optional<std::size_t> end_from(const Entry& entry, std::size_t element, std::size_t at,
                                      std::size_t limit) const;

  const Lexicon& lexicon_;
  const Words& words_;
  std::vector<std::vector<std::int32_t>> listed_;  // word numbers, by index into words_.vocabulary
};

}  // namespace belay::rules
