#pragma once
// rules/lexicon_text.h - the compiled-in texts of the lexicon files.

#include <string_view>

namespace belay::rules {

extern const std::string_view kLexiconEn;
extern const std::string_view kLexiconEs;

}  // namespace belay::rules
