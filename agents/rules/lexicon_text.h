#pragma once
// rules/lexicon_text.h - the compiled-in texts of the lexicon files and of the risk
// classifier.

#include <string_view>

namespace belay::rules {

extern const std::string_view kLexiconEn;
extern const std::string_view kLexiconEs;
extern const std::string_view kConceptsText;
extern const std::string_view kRiskModelText;

}  // namespace belay::rules
