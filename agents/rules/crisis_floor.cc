#include "agents/rules/crisis_floor.h"

#include <algorithm>

#include "agents/rules/language.h"
#include "agents/rules/lexicon.h"
#include "agents/rules/statement.h"

namespace belay::rules {
namespace {

constexpr int kIndirect = 8;
constexpr int kWish = 9;
constexpr std::size_t kTrainedWordsMin = 7;

// Returns for each token the end of the idiom that contains it, or 0. An idiom does not extend
// across punctuation: otherwise "I want to die. Laughing …" would be one.
std::vector<std::size_t> idiom_ends(const LexiconView& view, const Words& words) {
  std::vector<std::size_t> ends(words.tokens.size(), 0);
  for (std::size_t at = 0; at < words.tokens.size(); ++at) {
    const auto idiom = view.longest(at, words.tokens.size(), [](const Entry& entry, std::size_t) {
      return entry.category == Category::idiom;
    });
    if (!idiom) continue;
    const auto first = words.tokens.begin() + static_cast<std::ptrdiff_t>(idiom->begin);
    const auto last = words.tokens.begin() + static_cast<std::ptrdiff_t>(idiom->end);
    if (std::any_of(first + 1, last, [](const Token& token) { return token.pause_before; })) {
      continue;
    }
    for (std::size_t i = idiom->begin; i < idiom->end; ++i) ends[i] = std::max(ends[i], idiom->end);
  }
  return ends;
}

void append_phrases(Language language, std::string_view text, const Words& words,
                    const QuotationMarks& marks, std::size_t text_index,
                    std::vector<CrisisPhrase>& out) {
  const LexiconView view(lexicon_of(language), words);
  const auto idioms = idiom_ends(view, words);
  for (std::size_t at = 0; at < words.tokens.size(); ++at) {
    const auto found =
        view.longest(at, words.tokens.size(), [&](const Entry& entry, std::size_t end) {
          return entry.category == Category::crisis && idioms[end - 1] < end;
        });
    if (!found) continue;
    const Span span{words.tokens[found->begin].span.begin, words.tokens[found->end - 1].span.end};
    const int level = static_cast<int>(found->entry->weight);
    const bool statement =
        level >= kWish && is_statement(text, words, marks, found->begin, found->end);
    out.push_back({std::string(text.substr(span.begin, span.end - span.begin)), text_index, span,
                   level, statement});
  }
}

bool contains(const Span& outer, const Span& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// If one phrase contains another, keeps only the longer one, with the higher of their levels.
std::vector<CrisisPhrase> without_nested(std::vector<CrisisPhrase> phrases) {
  std::sort(phrases.begin(), phrases.end(), [](const auto& a, const auto& b) {
    if (a.span.begin != b.span.begin) return a.span.begin < b.span.begin;
    return a.span.end != b.span.end ? a.span.end > b.span.end : a.level > b.level;
  });
  std::vector<CrisisPhrase> kept;
  for (CrisisPhrase& phrase : phrases) {
    const bool nested = !kept.empty() && contains(kept.back().span, phrase.span);
    if (nested) {
      kept.back().level = std::max(kept.back().level, phrase.level);
      kept.back().statement = kept.back().statement || phrase.statement;
    } else {
      kept.push_back(std::move(phrase));
    }
  }
  return kept;
}

}  // namespace

std::vector<CrisisPhrase> crisis_phrases(std::string_view text, const Words& words,
                                         std::size_t text_index) {
  std::vector<CrisisPhrase> phrases;
  const QuotationMarks marks(text);
  append_phrases(Language::en, text, words, marks, text_index, phrases);
  append_phrases(Language::es, text, words, marks, text_index, phrases);
  return without_nested(std::move(phrases));
}

namespace {

std::size_t word_count(const std::vector<RiskNote>& texts) {
  std::size_t count = 0;
  for (const RiskNote& text : texts) count += text.words->tokens.size();
  return count;
}

bool has_idiom(const std::vector<RiskNote>& texts) {
  for (const RiskNote& text : texts) {
    for (const Language language : {Language::en, Language::es}) {
      const auto ends = idiom_ends(LexiconView(lexicon_of(language), *text.words), *text.words);
      if (std::any_of(ends.begin(), ends.end(), [](std::size_t end) { return end > 0; })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

CrisisFloor floor_of(const std::vector<RiskNote>& texts, std::vector<CrisisPhrase> phrases,
                     Language language) {
  const RiskModel& model = risk_model();
  const RiskMarks& marks = model.marks;
  // A few words are too few for the classifier.
  const std::size_t words = word_count(texts);
  const bool assessable = language != Language::unknown && words >= kTrainedWordsMin;
  const RiskFeatures features = assessable ? risk_features(texts) : RiskFeatures{};
  CrisisFloor floor;
  if (assessable) floor.score = model.score(features);
  // The training days are shorter, and an idiom looks like a crisis: there, the classifier has to
  // be surer, and its level is 7 at most.
  const bool doubtful = words > kRiskWordsMax || has_idiom(texts);
  floor.resembles = floor.score && *floor.score >= (doubtful ? marks.high : marks.alarm);
  const bool safe = floor.score && *floor.score < marks.alarm;
  for (CrisisPhrase& phrase : phrases) {
    const bool counts = phrase.statement || !safe;
    if (counts) floor.minimum = std::max(floor.minimum.value_or(phrase.level), phrase.level);
    (counts ? floor.phrases : floor.set_aside).push_back(std::move(phrase));
  }
  if (floor.phrases.empty() && !doubtful && floor.score && *floor.score >= marks.high) {
    floor.minimum = kIndirect;
  }
  if (floor.phrases.empty() && assessable) {
    if (floor.resembles || !floor.set_aside.empty()) {
      floor.reasons = model.reasons(texts, features, floor.resembles);
    }
  }
  return floor;
}

CrisisFloor crisis_floor(const std::vector<std::string>& texts) {
  std::vector<std::string> readables;
  std::vector<Words> words;
  std::vector<CrisisPhrase> phrases;
  LanguageVotes votes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    readables.push_back(readable(texts[i]));
    words.push_back(words_of(readables.back()));
    const LanguageVotes own = count_votes(words.back());
    votes.words += own.words;
    votes.en += own.en;
    votes.es += own.es;
    votes.other += own.other;
    for (CrisisPhrase& phrase : crisis_phrases(readables.back(), words.back(), i)) {
      phrases.push_back(std::move(phrase));
    }
  }
  std::vector<RiskNote> notes;
  for (std::size_t i = 0; i < texts.size(); ++i) notes.push_back({readables[i], &words[i]});
  return floor_of(notes, std::move(phrases), winner(votes));
}

int raised(int model_level, const CrisisFloor& floor) {
  return std::max(model_level, floor.minimum.value_or(model_level));
}

}  // namespace belay::rules
