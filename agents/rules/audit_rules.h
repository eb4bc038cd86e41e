#pragma once
// rules/audit_rules.h - assesses a day's notes by rules: a risk level, a summary quoted from the
// notes, and insights with their evidence. No language model and no diagnosis.
//
// docs/builtin-provider.md describes the scoring, its accuracy and its limits.
//
// Threading: pure functions. Equal notes have equal findings, on every machine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/crisis_floor.h"
#include "agents/rules/language.h"
#include "agents/rules/lexicon.h"

namespace belay::rules {

inline constexpr std::size_t kSummaryCodePointsMax = 280;
inline constexpr std::size_t kInsightsMax = 6;

// A quotation that supports an insight.
struct Evidence {
  std::string quote;           // as written
  std::size_t note_index = 0;  // index of the note
  Span span;                   // bytes of that note
};

struct Insight {
  std::string text;  // "Exhaustion, 2 mentions: “worn out”, “no strength”."
  Category category = Category::low_mood;
  std::size_t count = 0;           // mentions in all notes
  double weight = 0;               // sum of the weights of the mentions
  std::vector<Evidence> evidence;  // every mention, in text order
};

struct AuditFindings {
  // 1 to 7 by the burdens in the notes; 7 by the classifier; 8 to 10 by the crisis floor; 0 if not
  // assessed.
  int risk_level = 0;
  // False if the notes contain no text in a supported language and no crisis phrase. Must never be
  // shown as a low risk.
  bool assessed = false;
  Language language = Language::unknown;  // of most of the notes
  // The two or three sentences with the highest weights, verbatim, in the notes' order; runs of
  // white space become one space; cut only between words, with "…". The first sentences if none has
  // a weight.
  std::string summary;
  std::vector<Insight> insights;          // highest weight first; crisis before all others
  std::vector<std::size_t> unread_notes;  // indexes of notes in an unsupported language
  CrisisFloor crisis;
  double burden = 0;  // sum of the weights that raise the level, before saturation
  double relief = 0;  // sum of the weights that lower it
};

// `reader` is the language of the insights if that of the notes is unknown. Accepts any bytes.
AuditFindings analyse(const std::vector<std::string>& notes, Language reader = Language::en);

}  // namespace belay::rules
