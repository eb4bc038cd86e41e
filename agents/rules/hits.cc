#include "agents/rules/hits.h"

#include <algorithm>
#include <array>

#include "agents/rules/crisis_floor.h"

namespace belay::rules {
namespace {

constexpr std::size_t kNegatorReach = 3;      // words
constexpr std::size_t kIntensifierReach = 2;  // words
constexpr double kIntensified = 1.3;
constexpr double kDiminished = 0.7;
constexpr double kDeniedBurden = 0.3;  // "not sad": a relief of 0.3 times the burden of "sad"
constexpr double kDeniedGood = 0.5;    // "not happy": a burden of half the relief of "happy"

constexpr auto kNegators = std::to_array<std::string_view>(
    {"not", "no", "never", "without", "neither", "nor", "hardly", "nothing", "nobody", "none",
     "nunca", "sin", "tampoco", "jamas", "ni", "ningun", "ninguna", "nadie", "apenas"});
constexpr auto kTurns =
    std::to_array<std::string_view>({"but", "pero", "sino", "although", "aunque"});
constexpr auto kIntensifiers = std::to_array<std::string_view>({"very",
                                                                "so",
                                                                "really",
                                                                "extremely",
                                                                "totally",
                                                                "completely",
                                                                "utterly",
                                                                "terribly",
                                                                "awfully",
                                                                "too",
                                                                "incredibly",
                                                                "absolutely",
                                                                "deeply",
                                                                "mighty",
                                                                "muy",
                                                                "tan",
                                                                "demasiado",
                                                                "super",
                                                                "totalmente",
                                                                "completamente",
                                                                "extremadamente",
                                                                "bastante",
                                                                "realmente",
                                                                "tanto",
                                                                "tanta",
                                                                "profundamente",
                                                                "mucho",
                                                                "mucha"});
constexpr auto kDiminishers = std::to_array<std::string_view>(
    {"bit", "little", "slightly", "somewhat", "poco", "poca", "algo", "ligeramente", "poquito"});

// Finds the hits of one note. Words that a match has used are not read again as negators.
class Finder {
 public:
  explicit Finder(const NoteText& note)
      : note_(note), words_(note.words), view_(lexicon_of(note.language), note.words) {
    mark_crisis();
  }

  std::vector<Hit> find() {
    std::size_t first = 0;
    for (std::size_t sentence = 0; sentence < note_.sentences.size(); ++sentence) {
      std::size_t limit = first;
      const std::size_t end = note_.sentences[sentence].end;
      while (limit < words_.tokens.size() && words_.tokens[limit].span.begin < end) ++limit;
      find_in(sentence, first, limit);
      first = limit;
    }
    return std::move(hits_);
  }

 private:
  void mark_crisis() {
    crisis_.assign(words_.tokens.size(), false);
    std::size_t at = 0;
    for (const CrisisPhrase& phrase : crisis_phrases(note_.bytes, words_, 0)) {
      while (at < crisis_.size() && words_.tokens[at].span.begin < phrase.span.begin) ++at;
      for (std::size_t i = at; i < crisis_.size(); ++i) {
        if (words_.tokens[i].span.end > phrase.span.end) break;
        crisis_[i] = true;
      }
    }
  }

  void find_in(std::size_t sentence, std::size_t first, std::size_t limit) {
    std::size_t free_from = first;  // end of the previous match
    for (std::size_t at = first; at < limit;) {
      if (crisis_[at]) {
        free_from = ++at;
        continue;
      }
      if (const auto sleep = sleep_hours_at(words_, at, limit)) {
        add_sleep(*sleep, at, sentence);
        free_from = at = sleep->end;
        continue;
      }
      const auto match = view_.longest(at, limit, [](const Entry& entry, std::size_t) {
        return entry.category != Category::crisis;
      });
      if (!match) {
        ++at;
        continue;
      }
      if (match->entry->category != Category::idiom) add(*match, free_from, sentence);
      free_from = at = match->end;
    }
  }

  void add(const PhraseMatch& match, std::size_t free_from, std::size_t sentence) {
    Hit hit{match.entry->category, match.entry->weight, span(match.begin, match.end), sentence};
    if (near_before(match.begin, free_from, kIntensifierReach, kIntensifiers)) {
      hit.weight *= kIntensified;
    } else if (near_before(match.begin, free_from, kIntensifierReach, kDiminishers)) {
      hit.weight *= kDiminished;
    }
    const auto negator = near_before(match.begin, free_from, kNegatorReach, kNegators);
    if (negator) {
      deny(hit);
      hit.span.begin = words_.tokens[*negator].span.begin;  // evidence reads "not happy"
    }
    hits_.push_back(hit);
  }

  static void deny(Hit& hit) {
    hit.denied = true;
    if (is_burden(hit.category)) {
      hit.category = Category::positive;
      hit.weight *= kDeniedBurden;
    } else {
      hit.category = Category::low_mood;
      hit.weight *= kDeniedGood;
    }
  }

  void add_sleep(const SleepHours& sleep, std::size_t at, std::size_t sentence) {
    Hit hit{Category::sleep, 0, span(at, sleep.end), sentence};
    if (sleep.awake) {
      hit.weight = sleep.hours >= 12 ? 3 : 2;
    } else if (sleep.hours < 4) {
      hit.weight = 3;
    } else if (sleep.hours < 5) {
      hit.weight = 2.2;
    } else if (sleep.hours < 6) {
      hit.weight = 1.5;
    } else if (sleep.hours < 7) {
      hit.weight = 0.5;
    } else if (sleep.hours <= 10) {
      hit.category = Category::positive;
      hit.weight = 0.8;
    } else {
      hit.weight = 0.8;
    }
    hits_.push_back(hit);
  }

  // Returns the nearest token of `list` among the `reach` words before `at`, without a pause or
  // "but" between them, and after `free_from`, the end of the previous match.
  template <typename List>
  std::optional<std::size_t> near_before(std::size_t at, std::size_t free_from, std::size_t reach,
                                         const List& list) const {
    for (std::size_t back = 1; back <= reach && at >= free_from + back; ++back) {
      if (words_.tokens[at - back + 1].pause_before) return std::nullopt;
      const std::string_view word = words_.vocabulary[words_.tokens[at - back].word];
      if (has(kTurns, word)) return std::nullopt;
      if (has(list, word)) return at - back;
    }
    return std::nullopt;
  }

  Span span(std::size_t first, std::size_t limit) const {
    return {words_.tokens[first].span.begin, words_.tokens[limit - 1].span.end};
  }

  const NoteText& note_;
  const Words& words_;
  LexiconView view_;
  std::vector<bool> crisis_;
  std::vector<Hit> hits_;
};

}  // namespace

bool is_negator(std::string_view word) { return has(kNegators, word); }

std::vector<Hit> hits_of(const NoteText& note) {
  if (note.language == Language::unknown) return {};
  return Finder(note).find();
}

}  // namespace belay::rules
