#pragma once
// rules/insights.h - what the rules say of their findings, in English and Spanish.

#include <string>

#include "agents/rules/audit_rules.h"

namespace belay::rules {

// "Exhaustion, 2 mentions: “worn out”, “no strength”." with up to three different quotes, in
// `language`. REQUIRES: not Language::unknown; the insight has evidence.
std::string insight_text(const Insight& insight, Language language);

// What to tell a reader of `language` when nothing could be assessed.
std::string not_assessed_text(bool has_text, Language language);

// What to tell of notes that were left unread because of their language.
std::string unread_notes_text(std::size_t count, Language language);

}  // namespace belay::rules
