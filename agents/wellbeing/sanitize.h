#pragma once
// wellbeing/sanitize.h - makes people's text fit to stand inside a prompt.
//
// A prompt has sections, and what a person wrote must stay inside its own: so tags are taken out,
// invisible characters too, and passages that look like a section's delimiter, a speaker's label
// ("system:") or an order to the model ("ignore previous") are replaced by a visible mark. Nothing
// is altered without being counted, so that the result can say so. It finds the wordings that it
// lists, in English and Spanish; it is one layer, and the check of the model's answer is another.

#include <cstddef>
#include <string>
#include <string_view>

namespace belay::wellbeing {

inline constexpr std::size_t kPromptCharactersMax = 10'000;
// Stands where a passage was taken out.
inline constexpr std::string_view kRemovedMark = "«…»";

struct Sanitized {
  std::string text;         // valid UTF-8
  std::size_t altered = 0;  // passages that were taken out or replaced, tags included
  std::size_t characters_cut = 0;
};

// Takes any bytes. Cuts between code points; the text has at most `characters_max` of them.
Sanitized sanitize(std::string_view text, std::size_t characters_max = kPromptCharactersMax);

// Whether `text` holds a section's delimiter. A model whose answer does repeats its instructions,
// or someone else's.
bool repeats_delimiters(std::string_view text);

}  // namespace belay::wellbeing
