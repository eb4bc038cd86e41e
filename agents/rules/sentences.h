#pragma once
// rules/sentences.h - where a text's sentences begin and end.

#include <string_view>
#include <vector>

#include "agents/rules/language.h"
#include "agents/rules/words.h"

namespace belay::rules {

// The sentences of `text` in order, without the white space around them; none is empty. "Sr." and
// "p. ej." end none where the language is known. REQUIRES: valid UTF-8.
std::vector<Span> sentences_of(std::string_view text, Language language);

}  // namespace belay::rules
