#pragma once
// models/json_sanitizer.h - makes the output of a model storable, before any other code reads it.
//
// Invalid UTF-8, U+0000 and lone surrogates, as bytes or as escapes, become U+FFFD. Models produce
// them when a reply is cut inside a character, or when a prompt provokes them.

#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::models {

// Returns the text with only well-formed characters and without NUL.
std::string sanitized_text(std::string_view text);

// Parses untrusted JSON; the strings of the value are sanitized in the same way. Fails with
// `invalid`, like parse_json().
Result<Value> parse_sanitized_json(std::string_view text,
                                   std::size_t depth_max = limits::document_depth_max);

// Returns the beginning of such a text for a quotation in a message: at most `characters`
// characters, without line ends.
std::string quotable(std::string_view text, std::size_t characters);

}  // namespace belay::models
