#pragma once
// wellbeing/sanitize.h - sanitizes users' text for a prompt, against prompt injection.
//
// A prompt has sections, and users' text must not leave its section. Therefore tags and invisible
// characters are removed, and passages that look like a section's delimiter, a speaker's label
// ("system:") or an instruction to the model ("ignore previous") are replaced by a visible mark.
// Each change is counted, so that the result can report it. Only listed phrases are found, in
// English and Spanish; the validation of the model's reply is a second layer.

#include <cstddef>
#include <string>
#include <string_view>

namespace belay::wellbeing {

inline constexpr std::size_t kPromptCharactersMax = 10'000;
// Replaces a removed passage.
inline constexpr std::string_view kRemovedMark = "«…»";

struct Sanitized {
  std::string text;         // valid UTF-8
  std::size_t altered = 0;  // passages that were removed or replaced, tags included
  std::size_t characters_cut = 0;
};

// Accepts any bytes. Cuts between code points; the text has at most `characters_max` of them.
Sanitized sanitize(std::string_view text, std::size_t characters_max = kPromptCharactersMax);

// Returns whether `text` contains a section's delimiter. A reply with a delimiter repeats the
// prompt, or injected instructions.
bool repeats_delimiters(std::string_view text);

}  // namespace belay::wellbeing
