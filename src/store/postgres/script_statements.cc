#include "store/postgres/script_statements.h"

#include <algorithm>
#include <cctype>

namespace belay::postgres {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// Where what follows `end_mark` begins.
std::size_t after(std::string_view script, std::string_view end_mark, std::size_t from) {
  std::size_t found = script.find(end_mark, from);
  return found == std::string_view::npos ? script.size() : found + end_mark.size();
}

// These nest.
std::size_t after_comment(std::string_view script, std::size_t at) {
  int depth = 0;
  while (at < script.size()) {
    std::string_view two = script.substr(at, 2);
    if (two == "/*") {
      ++depth;
      at += 2;
    } else if (two == "*/") {
      --depth;
      at += 2;
      if (depth == 0) return at;
    } else {
      ++at;
    }
  }
  return script.size();
}

// In E'...' a backslash takes the next character with it. Two quotes in a row read as the end of
// one literal and the begin of the next, which comes to the same.
std::size_t after_literal(std::string_view script, std::size_t at) {
  bool has_escapes = at > 0 && (script[at - 1] == 'E' || script[at - 1] == 'e') &&
                     (at == 1 || !is_of_name(script[at - 2]));
  for (++at; at < script.size(); ++at) {
    if (script[at] == '\\' && has_escapes) {
      ++at;
    } else if (script[at] == '\'') {
      return at + 1;
    }
  }
  return script.size();
}

// A dollar quote begins with $$ or $tag$, where no name goes on and no parameter ($1) is meant.
std::size_t after_dollar(std::string_view script, std::size_t at) {
  if (at > 0 && is_of_name(script[at - 1])) return at + 1;
  std::size_t end = at + 1;
  while (end < script.size() && is_of_name(script[end]) && script[end] != '$') ++end;
  if (end >= script.size() || script[end] != '$') return at + 1;
  bool is_number = end > at + 1 && script[at + 1] >= '0' && script[at + 1] <= '9';
  if (is_number) return at + 1;
  return after(script, script.substr(at, end + 1 - at), end + 1);
}

struct Piece {
  std::size_t end;  // where the next begins
  bool says_something = true;
};

// What begins at `at`: a comment, something quoted, or one character.
Piece piece_at(std::string_view script, std::size_t at) {
  char c = script[at];
  std::string_view two = script.substr(at, 2);
  if (two == "--") return {after(script, "\n", at), false};
  if (two == "/*") return {after_comment(script, at), false};
  if (c == '\'') return {after_literal(script, at)};
  if (c == '"') return {after(script, "\"", at + 1)};
  if (c == '$') return {after_dollar(script, at)};
  return {at + 1, std::isspace(static_cast<unsigned char>(c)) == 0};
}

}  // namespace

std::vector<std::string_view> statements_of(std::string_view script) {
  std::vector<std::string_view> statements;
  std::size_t begin = 0;
  bool says_something = false;
  for (std::size_t at = 0; at < script.size();) {
    if (script[at] == ';') {
      if (says_something) statements.push_back(script.substr(begin, at - begin));
      begin = ++at;
      says_something = false;
      continue;
    }
    Piece piece = piece_at(script, at);
    says_something = says_something || piece.says_something;
    at = std::min(piece.end, script.size());
  }
  if (says_something) statements.push_back(script.substr(begin));
  return statements;
}

}  // namespace belay::postgres
