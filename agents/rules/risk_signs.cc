#include "agents/rules/risk_signs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agents/rules/crisis_floor.h"
#include "agents/rules/hits.h"
#include "agents/rules/lexicon.h"

namespace belay::rules {
namespace {

constexpr std::size_t kDeniedReach = 3;
constexpr auto kLengths = std::to_array<std::size_t>({8, 12, 18, 25, 35, 50, 70});
constexpr int kNetMin = -2;
constexpr int kNetMax = 6;
constexpr double kRelief = 0.6;  // of a burden

constexpr auto kFirstPerson = std::to_array<std::string_view>(
    {"i", "me", "my", "myself", "yo", "mi", "mis", "conmigo", "mio", "mia"});
constexpr auto kThirdPerson = std::to_array<std::string_view>(
    {"he",   "she",  "they", "him",   "his",   "hers",  "her",      "their",  "them",
     "who",  "el",   "ella", "ellos", "ellas", "su",    "sus",      "le",     "les",
     "dice", "dijo", "film", "book",  "movie", "novel", "pelicula", "novela", "libro"});
constexpr auto kPast = std::to_array<std::string_view>(
    {"ago", "used", "once", "back", "years", "then", "años", "entonces", "antes", "was", "were",
     "had", "era", "estaba", "habia", "hace"});

class SignReader {
 public:
  explicit SignReader(std::vector<RiskSign>& out) : out_(out) {}

  void read(const RiskNote& note, std::uint32_t index) {
    note_ = index;
    words_ = note.words;
    if (words_->tokens.empty()) return;
    if (length_ == 0) first_note_ = index;
    length_ += words_->tokens.size();
    add_lexicon(Language::en);
    add_lexicon(Language::es);
    add_phrases(note.text);
    add_sentences(note.text);
  }

  // Adds the signs of the whole day: those of its first note.
  void finish(const std::vector<RiskNote>& notes) {
    if (length_ == 0) return;
    note_ = first_note_;
    const std::size_t last = notes[first_note_].words->tokens.size() - 1;
    for (const std::size_t length : kLengths) {
      if (length_ > length) add("length " + std::to_string(length), 0, last);
    }
    for (int net = kNetMin; net <= kNetMax; ++net) {
      if (net_ > net) add("net " + std::to_string(net), 0, last);
    }
  }

 private:
  void add(std::string name, std::size_t first, std::size_t last) {
    out_.push_back({std::move(name), note_, static_cast<std::uint32_t>(first),
                    static_cast<std::uint32_t>(last)});
  }

  const std::string& word(std::size_t at) const {
    return words_->vocabulary[words_->tokens[at].word];
  }

  bool denied(std::size_t at) const {
    for (std::size_t back = 1; back <= kDeniedReach && back <= at; ++back) {
      if (words_->tokens[at - back + 1].pause_before) return false;
      if (is_negator(word(at - back))) return true;
    }
    return false;
  }

  void add_lexicon(Language language) {
    const LexiconView view(lexicon_of(language), *words_);
    const std::size_t limit = words_->tokens.size();
    for (std::size_t at = 0; at < limit;) {
      const auto match = view.longest(at, limit, [](const Entry& entry, std::size_t) {
        return entry.category != Category::crisis;
      });
      if (!match) {
        ++at;
        continue;
      }
      const Category category = match->entry->category;
      const bool is_denied = denied(at);
      add(std::string(is_denied ? "no " : "") + std::string(name_of(category)), at, match->end - 1);
      const double sign = is_burden(category) ? 1 : -kRelief;
      if (category != Category::idiom) net_ += (is_denied ? -0.5 : 1) * sign * match->entry->weight;
      at = match->end;
    }
  }

  void add_phrases(std::string_view text) {
    for (const CrisisPhrase& phrase : crisis_phrases(text, *words_, note_)) {
      std::size_t first = 0;
      while (words_->tokens[first].span.begin < phrase.span.begin) ++first;
      std::size_t last = first;
      while (last + 1 < words_->tokens.size() &&
             words_->tokens[last + 1].span.end <= phrase.span.end) {
        ++last;
      }
      const std::string level = std::to_string(phrase.level);
      const std::string kind = phrase.statement ? "statement" : "mention";
      add("phrase", first, last);
      add("phrase " + level, first, last);
      add(kind, first, last);
      add(kind + " " + level, first, last);
      add("phrase " + fold(phrase.text), first, last);
    }
  }

  void add_sentences(std::string_view text) {
    std::size_t first = 0;
    for (std::size_t at = 1; at <= words_->tokens.size(); ++at) {
      if (at < words_->tokens.size() && !ends_between(text, at - 1, at)) continue;
      std::string name = "sentence ";
      if (any_of(first, at, kFirstPerson)) name += 'F';
      if (any_of(first, at, kThirdPerson)) name += 'T';
      if (any_of(first, at, kPast)) name += 'P';
      add(std::move(name), first, at - 1);
      first = at;
    }
  }

  bool ends_between(std::string_view text, std::size_t before, std::size_t after) const {
    const std::size_t begin = words_->tokens[before].span.end;
    const std::size_t end = words_->tokens[after].span.begin;
    if (end <= begin) return false;  // two words of a contraction
    return text.substr(begin, end - begin).find_first_of(".!?\n") != std::string_view::npos;
  }

  template <typename List>
  bool any_of(std::size_t first, std::size_t limit, const List& list) const {
    for (std::size_t at = first; at < limit; ++at) {
      if (has(list, word(at))) return true;
    }
    return false;
  }

  std::vector<RiskSign>& out_;
  const Words* words_ = nullptr;
  std::uint32_t note_ = 0;
  std::uint32_t first_note_ = 0;
  std::size_t length_ = 0;
  double net_ = 0;
};

}  // namespace

std::vector<RiskSign> risk_signs(const std::vector<RiskNote>& notes) {
  std::vector<RiskSign> out;
  SignReader reader(out);
  for (std::uint32_t i = 0; i < notes.size(); ++i) reader.read(notes[i], i);
  reader.finish(notes);
  return out;
}

}  // namespace belay::rules
