#pragma once
// rules/sentences.h - splits a text into sentences.

#include <string_view>
#include <vector>

#include "agents/rules/language.h"
#include "agents/rules/words.h"

namespace belay::rules {

// Returns the sentences of `text` in order, without white space around them; none is empty. "Sr."
// and "p. ej." do not end a sentence if the language is known. Requires valid UTF-8.
std::vector<Span> sentences_of(std::string_view text, Language language);

}  // namespace belay::rules
