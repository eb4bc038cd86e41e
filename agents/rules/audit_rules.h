#pragma once
// rules/audit_rules.h - reads a day's notes by rules: a risk level, a summary in the notes' own
// words, and insights with their evidence. No language model and no diagnosis.
//
// docs/builtin-provider.md says how it scores, how well, and what it can't see.
//
// Threading: pure functions. The same notes give the same findings, on every machine.

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

// The words that an insight rests on.
struct Evidence {
  std::string quote;           // as written
  std::size_t note_index = 0;  // which of the notes
  Span span;                   // bytes of that note
};

struct Insight {
  std::string text;  // "Exhaustion, 2 mentions: “worn out”, “no strength”."
  Category category = Category::low_mood;
  std::size_t count = 0;           // mentions in all notes
  double weight = 0;               // their sum
  std::vector<Evidence> evidence;  // every mention, in text order
};

struct AuditFindings {
  // 1 to 7 by what weighs on the writer; 8 to 10 only through a crisis phrase; 0 when not assessed.
  int risk_level = 0;
  // False when there is no text, or none in a language that the rules know, and no crisis phrase
  // either. Never show that as a low risk.
  bool assessed = false;
  Language language = Language::unknown;  // of most of the notes
  // The two or three sentences that weigh most, verbatim, in the notes' order, white space runs
  // as one space; cut only between words, with "…". The first sentences when none weighs anything.
  std::string summary;
  std::vector<Insight> insights;          // heaviest first, crisis before all
  std::vector<std::size_t> unread_notes;  // indices of notes in a language that the rules lack
  CrisisFloor crisis;
  double burden = 0;  // sum of what raises the level, before saturation
  double relief = 0;  // sum of what lowers it
};

// `reader` is the language of insights where the notes' own is unknown. Takes any bytes.
AuditFindings analyse(const std::vector<std::string>& notes, Language reader = Language::en);

}  // namespace belay::rules
