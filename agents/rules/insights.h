#pragma once
// rules/insights.h - formats the findings of the rules, in English and Spanish.

#include <string>

#include "agents/rules/audit_rules.h"

namespace belay::rules {

// Returns "Exhaustion, 2 mentions: “worn out”, “no strength”." with up to three different quotes,
// in `language`. Requires a known language and an insight with evidence.
std::string insight_text(const Insight& insight, Language language);

// Returns why the classifier raised or lowered the level, with the words that weighed most; empty
// if it did neither.
std::string classifier_text(const CrisisFloor& floor, Language language);

// Returns the text for notes that could not be assessed.
std::string not_assessed_text(bool has_text, Language language);

// Returns the text about `count` notes that were ignored because of their language.
std::string unread_notes_text(std::size_t count, Language language);

}  // namespace belay::rules
