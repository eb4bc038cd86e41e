#include "store/postgres/script_statements.h"

#include <algorithm>
#include <cctype>

namespace belay::postgres {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// Returns the index after the next `end_mark`; the end of the script without one.
std::size_t after(std::string_view script, std::string_view end_mark, std::size_t from) {
  std::size_t found = script.find(end_mark, from);
  return found == std::string_view::npos ? script.size() : found + end_mark.size();
}

// C-style comments nest in SQL.
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

// In E'...' a backslash escapes the next character. A doubled quote counts as the end of one
// literal and the start of the next, which has the same effect here.
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

// A dollar quote starts with $$ or $tag$. A dollar sign within a name does not start one, and
// neither does a parameter ($1).
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
  std::size_t end;  // index of the next piece
  bool says_something = true;
};

// Returns the piece that starts at `at`: a comment, a quoted text, or one character.
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
