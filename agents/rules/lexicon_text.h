#pragma once
// rules/lexicon_text.h - the lexicon files as they stand in the program.

#include <string_view>

namespace belay::rules {

extern const std::string_view kLexiconEn;
extern const std::string_view kLexiconEs;

}  // namespace belay::rules
