#pragma once
// tests/tidy/lexer.h - splits C++ source into tokens
//
// Checks of tokens cannot mistake a comment or a string for code, and do not depend on spaces and
// line breaks.

#include <string>
#include <string_view>
#include <vector>

namespace belay::tidy {

enum class TokenKind {
  identifier,  // keywords too
  number,
  string,       // also a raw one; without its text
  character,    // without its text
  include,      // an #include line; its text is the name with its quotes or brackets
  punctuation,  // one character, except :: and ->
  comment,      // only from tokens_and_prose_of(): its text, with its slashes
};

struct Token {
  TokenKind kind;
  std::string text;
  int line;
};

// Omits comments. Text that is not C++ yields tokens too, never an error.
std::vector<Token> tokens_of(std::string_view text);

// The same with comments, and with the text of strings: without quotes and prefix, escape sequences
// replaced by the character or a space.
std::vector<Token> tokens_and_prose_of(std::string_view text);

}  // namespace belay::tidy
