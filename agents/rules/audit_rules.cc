#include "agents/rules/audit_rules.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "agents/rules/hits.h"
#include "agents/rules/insights.h"
#include "agents/rules/sentences.h"
#include "agents/rules/summary.h"

namespace belay::rules {
namespace {

constexpr double kReliefShare = 0.6;  // positive mentions count less than burdens
constexpr double kSaturation = 3.5;   // burden at which two thirds of the scale are used
constexpr double kWordsBeforeScaling = 120;
constexpr int kAlarmLevel = 7;           // from this level on, an audit needs an approval
constexpr double kCrisisSentence = 100;  // a crisis sentence is always in the summary

// Returns the language of the lexicon that contains the words, for notes without stop words
// ("Insomnia again.").
Language by_lexicon(const Words& words) {
  const auto count = [&](Language language) {
    const LexiconView view(lexicon_of(language), words);
    std::size_t found = 0;
    for (std::size_t at = 0; at < words.tokens.size(); ++at) {
      const auto any = [](const Entry&, std::size_t) { return true; };
      const auto match = view.longest(at, words.tokens.size(), any);
      if (!match) continue;
      // A word of one language might be a form of a word in another: an exact match counts more.
      std::string phrase = fold(match->entry->phrase);
      std::erase(phrase, '=');
      const bool as_written = phrase == words.vocabulary[words.tokens[at].word];
      found += as_written ? 2 : 1;
    }
    return found;
  };
  const std::size_t en = count(Language::en);
  const std::size_t es = count(Language::es);
  if (en == es) return Language::unknown;
  return en > es ? Language::en : Language::es;
}

// Returns the words and languages of the notes. A note without votes for any language gets the
// language of the day; one with votes for an unsupported language remains unknown.
std::vector<NoteText> prepared(const std::vector<std::string>& notes, Language& day) {
  std::vector<NoteText> out;
  std::vector<LanguageVotes> votes;
  LanguageVotes total;
  for (const std::string& note : notes) {
    NoteText text;
    text.bytes = readable(note);
    text.words = words_of(text.bytes);
    votes.push_back(count_votes(text.words));
    text.language = winner(votes.back());
    total.words += votes.back().words;
    total.en += votes.back().en;
    total.es += votes.back().es;
    total.other += votes.back().other;
    out.push_back(std::move(text));
  }
  day = winner(total);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool foreign = votes[i].other > std::max(votes[i].en, votes[i].es);
    if (out[i].language != Language::unknown || foreign || votes[i].words == 0) continue;
    const Language own = by_lexicon(out[i].words);
    out[i].language = own != Language::unknown ? own : day;
    if (day == Language::unknown) day = own;
  }
  for (NoteText& text : out) {
    if (day == Language::unknown) day = text.language;
    text.sentences = sentences_of(text.bytes, text.language);
  }
  return out;
}

// Returns 1 to 7. Long texts contain more mentions: the sum is divided by the square root of their
// length.
int level_of(const AuditFindings& findings, std::size_t words) {
  const double length = std::max(1.0, static_cast<double>(words) / kWordsBeforeScaling);
  const double net = (findings.burden - kReliefShare * findings.relief) / std::sqrt(length);
  if (net <= 0) return 1;
  const double level = 1 + 6 * (1 - std::exp(-net / kSaturation));
  return std::clamp(static_cast<int>(std::lround(level)), 1, 7);
}

// Returns the level, raised by the classifier. Of a day whose only burdens are denied ("not sad"),
// it has to be surer.
int classified(int level, bool only_denied, CrisisFloor& floor) {
  if (!floor.score) return level;
  if (only_denied && *floor.score < risk_model().marks.high && floor.resembles) {
    floor.resembles = false;
    floor.reasons.clear();
  }
  return floor.resembles ? kAlarmLevel : level;
}

void add_sentences(const NoteText& note, const std::vector<Hit>& hits,
                   const std::vector<CrisisPhrase>& phrases, std::vector<ScoredSentence>& out) {
  const std::size_t first = out.size();
  for (const Span& span : note.sentences) {
    const auto text = std::string_view(note.bytes).substr(span.begin, span.end - span.begin);
    out.push_back({text, 0, text.size()});
  }
  const auto score = [&](std::size_t sentence, std::size_t begin, double weight) {
    ScoredSentence& scored = out[first + sentence];
    scored.score += weight;
    scored.focus = std::min(scored.focus, begin - note.sentences[sentence].begin);
  };
  for (const Hit& hit : hits) {
    const bool helpful = hit.category == Category::positive || hit.category == Category::coping;
    score(hit.sentence, hit.span.begin, hit.weight * (helpful ? 0.5 : 1));
  }
  for (const CrisisPhrase& phrase : phrases) {
    const auto after =
        std::upper_bound(note.sentences.begin(), note.sentences.end(), phrase.span.begin,
                         [](std::size_t offset, const Span& span) { return offset < span.begin; });
    if (after == note.sentences.begin()) continue;
    const auto sentence = static_cast<std::size_t>(after - note.sentences.begin()) - 1;
    score(sentence, phrase.span.begin, kCrisisSentence);
    // The summary must contain these words, even if a long sentence is cut.
    out[first + sentence].focus = phrase.span.begin - note.sentences[sentence].begin;
  }
}

void add_evidence(const NoteText& note, std::size_t index, const std::vector<Hit>& hits,
                  std::map<Category, Insight>& insights) {
  for (const Hit& hit : hits) {
    Insight& insight = insights[hit.category];
    insight.category = hit.category;
    insight.weight += hit.weight;
    ++insight.count;
    insight.evidence.push_back(
        {note.bytes.substr(hit.span.begin, hit.span.end - hit.span.begin), index, hit.span});
  }
}

void add_crisis(const CrisisFloor& floor, std::map<Category, Insight>& insights) {
  for (const CrisisPhrase& phrase : floor.phrases) {
    Insight& insight = insights[Category::crisis];
    insight.category = Category::crisis;
    insight.weight += phrase.level;
    ++insight.count;
    insight.evidence.push_back({phrase.text, phrase.text_index, phrase.span});
  }
}

void rank(std::map<Category, Insight> insights, Language language, AuditFindings& findings) {
  for (auto& [category, insight] : insights) {
    insight.text = insight_text(insight, language);
    findings.insights.push_back(std::move(insight));
  }
  std::sort(findings.insights.begin(), findings.insights.end(),
            [](const Insight& a, const Insight& b) {
              const bool a_crisis = a.category == Category::crisis;
              const bool b_crisis = b.category == Category::crisis;
              if (a_crisis != b_crisis) return a_crisis;
              return a.weight != b.weight ? a.weight > b.weight : a.category < b.category;
            });
  if (findings.insights.size() > kInsightsMax) findings.insights.resize(kInsightsMax);
}

}  // namespace

AuditFindings analyse(const std::vector<std::string>& notes, Language reader) {
  AuditFindings findings;
  const std::vector<NoteText> texts = prepared(notes, findings.language);
  std::vector<ScoredSentence> sentences;
  std::map<Category, Insight> insights;
  std::vector<CrisisPhrase> all_phrases;
  std::vector<RiskNote> risk_notes;
  std::size_t words_read = 0;
  bool any_denied = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const NoteText& text = texts[i];
    const auto hits = hits_of(text);
    const auto phrases = crisis_phrases(text.bytes, text.words, i);
    for (const Hit& hit : hits) {
      (is_burden(hit.category) ? findings.burden : findings.relief) += hit.weight;
      any_denied = any_denied || (hit.denied && hit.category == Category::positive);
    }
    if (text.language != Language::unknown) {
      words_read += text.words.tokens.size();
    } else if (!text.sentences.empty()) {
      findings.unread_notes.push_back(i);
    }
    add_sentences(text, hits, phrases, sentences);
    add_evidence(text, i, hits, insights);
    all_phrases.insert(all_phrases.end(), phrases.begin(), phrases.end());
    risk_notes.push_back({text.bytes, &text.words});
  }
  const bool known = findings.language != Language::unknown;
  findings.crisis = floor_of(risk_notes, std::move(all_phrases), findings.language);
  add_crisis(findings.crisis, insights);
  findings.summary = summary_of(sentences, kSummaryCodePointsMax);
  findings.assessed = words_read > 0 || findings.crisis.minimum.has_value();
  if (findings.assessed) {
    const int level = classified(level_of(findings, words_read), any_denied && findings.burden == 0,
                                 findings.crisis);
    findings.risk_level = raised(level, findings.crisis);
  }
  rank(std::move(insights), known ? findings.language : reader, findings);
  return findings;
}

}  // namespace belay::rules
