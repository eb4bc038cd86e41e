#pragma once
// tests/tidy/lexer.h - C++ source as tokens, so that no check mistakes a comment or a string for
// code, or stumbles over spaces and line breaks.

#include <string>
#include <string_view>
#include <vector>

namespace belay::tidy {

enum class TokenKind {
  identifier,  // keywords too
  number,
  string,       // also a raw one; without its text
  character,    // without its text
  include,      // an #include line; its text is what follows, with its quotes or brackets
  punctuation,  // one character, but for :: and ->
};

struct Token {
  TokenKind kind;
  std::string text;
  int line;
};

// Comments are left out. What is not C++ gives tokens too, and never an error.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace belay::tidy
