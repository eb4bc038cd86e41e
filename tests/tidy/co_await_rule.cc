// The co_await rule. GCC 12 silently destroys some temporaries twice if their full expression
// contains a co_await: aggregates, capturing lambdas, and the results of ?:. Such an expression
// must not contain them; they must be named variables.

#include <algorithm>
#include <set>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// The tokens of a file, with matching brackets and the kind of each brace.
class Code {
 public:
  explicit Code(std::string_view text) : tokens_(tokens_of(text)) {
    match();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "{")) block_[i] = opens_block(i);
    }
  }

  Findings findings(const std::string& path) const {
    std::set<std::pair<int, std::string>> found;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, "co_await") || (i > 0 && is(i - 1, "operator"))) continue;
      std::size_t end = end_of_expression(i);
      for (std::size_t k = begin_of_expression(i); k < end; ++k) {
        if (is(k, "{") && block_[k]) {
          k = match_[k];  // a lambda's body: its own expressions
        } else if (is(k, "{")) {
          found.emplace(tokens_[k].line, "braces in a co_await expression" + advice());
        } else if (is(k, "[") && begins_lambda(k) && !is(k + 1, "]")) {
          found.emplace(tokens_[k].line, "a capturing lambda in a co_await expression" + advice());
        } else if (is(k, "?")) {
          found.emplace(tokens_[k].line, "?: in a co_await expression" + advice());
        }
      }
    }
    Findings findings;
    for (const auto& [line, message] : found) findings.push_back({path, line, message});
    return findings;
  }

 private:
  static std::string advice() {
    return ": GCC 12 destroys it twice; name it first, then move it in (CONTRIBUTING.md)";
  }

  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text &&
           (tokens_[i].kind == TokenKind::identifier || tokens_[i].kind == TokenKind::punctuation);
  }

  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return i < tokens_.size() && is_one_of(tokens_[i].text, words);
  }

  void match() {
    match_.assign(tokens_.size(), kNone);
    block_.assign(tokens_.size(), false);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != TokenKind::punctuation) continue;
      if (is_any(i, {"(", "[", "{"})) open.push_back(i);
      if (is_any(i, {")", "]", "}"}) && !open.empty()) {
        match_[i] = open.back();
        match_[open.back()] = i;
        open.pop_back();
      }
    }
    for (std::size_t i : open) match_[i] = tokens_.size();  // never closed: extends to the end
  }

  bool begins_lambda(std::size_t i) const {
    if (i == 0) return true;
    if (is(i - 1, "[") || is(i + 1, "[")) return false;  // an attribute
    const Token& before = tokens_[i - 1];
    if (before.kind == TokenKind::identifier) {
      return is_any(i - 1, {"return", "co_return", "co_await", "co_yield", "case", "else"});
    }
    return before.kind == TokenKind::punctuation && !is_any(i - 1, {")", "]", "}"});
  }

  // Returns whether the brace at `i` opens statements or declarations, not values.
  bool opens_block(std::size_t i) const {
    if (i == 0) return true;
    std::size_t before = i - 1;
    if (is(before, "]")) return match_[before] != kNone && begins_lambda(match_[before]);
    if (is(before, "{")) return block_[before];
    if (is_any(before, {")", "}", ";", ":", "else", "do", "try"})) return true;
    if (is_any(before, {"return", "co_return", "co_yield", "co_await"})) return false;
    if (tokens_[before].kind == TokenKind::string) return true;  // extern "C"
    if (tokens_[before].kind == TokenKind::include) return true;
    if (tokens_[before].kind != TokenKind::identifier && !is(before, ">")) return false;
    return follows_declaration(before);
  }

  // Reads backwards over the tokens of a type from `i`: returns whether a function's return type, a
  // function's specifier, or the name of a class, enum or namespace ends there.
  bool follows_declaration(std::size_t i) const {
    bool only_specifiers = true;
    while (i != kNone && i < tokens_.size()) {
      if (is_any(i, {"struct", "class", "enum", "union", "namespace"})) return true;
      if (is(i, "->")) return i > 0 && is_any(i - 1, {")", "]", "noexcept", "mutable", "const"});
      if (is(i, ")")) return only_specifiers;
      bool type = tokens_[i].kind == TokenKind::identifier ||
                  tokens_[i].kind == TokenKind::number ||
                  is_any(i, {"::", "<", ">", ",", "&", "*", ":"});
      if (!type || is_any(i, {"return", "co_return", "co_await", "co_yield"})) return false;
      if (!is_any(i, {"const", "noexcept", "override", "final", "mutable", "&"})) {
        only_specifiers = false;
      }
      --i;
    }
    return false;
  }

  // Returns whether the block at `i` is the body of a lambda.
  bool is_lambda_body(std::size_t i) const {
    for (std::size_t k = i - 1; k != kNone; --k) {
      if (is(k, "]")) return match_[k] != kNone && begins_lambda(match_[k]);
      if (is(k, ")")) {
        std::size_t open = match_[k];
        if (open == kNone || open == 0) return false;
        k = open;
        if (is(k - 1, ">")) {  // []<typename T>(T value)
          while (k > 0 && !is(k, "<")) --k;
          if (k == 0) return false;
        }
        return is(k - 1, "]") && match_[k - 1] != kNone && begins_lambda(match_[k - 1]);
      }
      if (is_any(k, {";", "{", "}", "(", "=", "["})) return false;
    }
    return false;
  }

  bool is_condition(std::size_t open) const {
    return open > 0 && (is_any(open - 1, {"if", "while", "for", "switch"}) ||
                        (is(open - 1, "constexpr") && open > 1 && is(open - 2, "if")));
  }

  std::size_t begin_of_expression(std::size_t i) const {
    for (std::size_t k = i; k-- > 0;) {
      if (tokens_[k].kind == TokenKind::include || is_any(k, {";", "else", "do"})) return k + 1;
      if (is(k, "{") && block_[k]) return k + 1;
      if (is(k, "(") && is_condition(k)) return k + 1;
      if (!is_any(k, {")", "]", "}"})) continue;
      std::size_t open = match_[k];
      if (open == kNone) return k + 1;
      if (is(k, "}") && block_[open] && !is_lambda_body(open)) return k + 1;
      if (is(k, ")") && is_condition(open)) return k + 1;
      k = open;
    }
    return 0;
  }

  std::size_t end_of_expression(std::size_t i) const {
    std::size_t begin = begin_of_expression(i);
    for (std::size_t k = i + 1; k < tokens_.size(); ++k) {
      if (is(k, ";")) return k;
      if (is(k, "{") && block_[k]) {
        if (!is_lambda_body(k)) return k;
        k = match_[k];
      } else if (is_any(k, {")", "]", "}"}) && (match_[k] == kNone || match_[k] < begin)) {
        return k;
      }
    }
    return tokens_.size();
  }

  std::vector<Token> tokens_;
  std::vector<std::size_t> match_;  // the partner in a pair of brackets
  std::vector<bool> block_;         // of a '{': opens statements or declarations
};

}  // namespace

Findings check_co_await(const File& file) {
  if (!is_cpp(file.path)) return {};
  return Code(file.text).findings(file.path);
}

}  // namespace belay::tidy
