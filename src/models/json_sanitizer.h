#pragma once
// models/json_sanitizer.h - what a model says, made fit to be stored before anybody looks at it.
//
// Invalid UTF-8, U+0000 and lone surrogates, as bytes or as escapes, become U+FFFD. Models say such
// things: cut in the middle of a character, or lured into it.

#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::models {

// Text in which only well-formed characters are left, and no NUL.
std::string sanitized_text(std::string_view text);

// The value of a JSON text from outside, sound in the same way. `invalid` as parse_json() says it.
Result<Value> parse_sanitized_json(std::string_view text,
                                   std::size_t depth_max = limits::document_depth_max);

// A piece of such a text to quote in a sentence: at most `characters`, without line ends.
std::string quotable(std::string_view text, std::size_t characters);

}  // namespace belay::models
