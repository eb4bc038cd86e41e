#include "tests/tidy/lexer.h"

#include <algorithm>
#include <cctype>

namespace belay::tidy {
namespace {

bool starts_identifier(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }

// A line break, a tab or a code point becomes a space; an escaped quote or backslash becomes
// itself.
std::string unescaped(std::string_view body) {
  std::string text;
  for (std::size_t at = 0; at < body.size(); ++at) {
    bool escaped = body[at] == '\\' && at + 1 < body.size();
    if (!escaped) {
      text += body[at];
    } else {
      char c = body[++at];
      text += std::isalnum(static_cast<unsigned char>(c)) || c == '\n' ? ' ' : c;
    }
  }
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view text, bool with_prose) : text_(text), with_prose_(with_prose) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  void step() {
    char c = text_[at_];
    if (c == '\n') {
      line_start_ = true;
      ++line_;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      take_comment(text_.find('\n', at_));
    } else if (text_.substr(at_, 2) == "/*") {
      std::size_t end = text_.find("*/", at_ + 2);
      take_comment(end == text_.npos ? end : end + 2);
    } else {
      bool first = line_start_;
      line_start_ = false;
      if (c == '#' && first && take_include()) return;
      if (starts_identifier(c)) {
        take_identifier();
      } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
        take_number();
      } else if (c == '"' || c == '\'') {
        take_quoted(c);
      } else {
        bool pair = text_.substr(at_, 2) == "::" || text_.substr(at_, 2) == "->";
        take(TokenKind::punctuation, at_ + (pair ? 2 : 1));
      }
    }
  }

  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_to(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
    at_ = end;
  }

  void take_comment(std::size_t end) {
    end = std::min(end, text_.size());
    if (with_prose_) {
      tokens_.push_back({TokenKind::comment, std::string(text_.substr(at_, end - at_)), line_});
    }
    skip_to(end);
  }

  void take(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, std::string(text_.substr(at_, end - at_)), line_});
    at_ = end;
  }

  bool take_include() {
    std::size_t word = text_.find_first_not_of(" \t", at_ + 1);
    if (word == text_.npos || text_.substr(word, 7) != "include") return false;
    std::size_t open = text_.find_first_not_of(" \t", word + 7);
    if (open == text_.npos || (text_[open] != '<' && text_[open] != '"')) return false;
    std::size_t close = text_.find(text_[open] == '<' ? '>' : '"', open + 1);
    if (close == text_.npos) return false;
    at_ = open;
    take(TokenKind::include, close + 1);
    return true;
  }

  void take_identifier() {
    std::size_t end = at_;
    while (end < text_.size() && continues_identifier(text_[end])) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    if (end < text_.size() && text_[end] == '"' && word.size() <= 3 && word.back() == 'R') {
      at_ = end;
      take_raw_string();
    } else {
      take(TokenKind::identifier, end);
    }
  }

  void take_raw_string() {
    std::size_t open = text_.find('(', at_);
    if (open == text_.npos) return skip_to(open);
    std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    std::size_t end = text_.find(close, open);
    std::string_view body = text_.substr(open + 1, end == text_.npos ? end : end - open - 1);
    tokens_.push_back({TokenKind::string, with_prose_ ? std::string(body) : "\"\"", line_});
    skip_to(end == text_.npos ? end : end + close.size());
  }

  void take_number() {
    std::size_t end = at_;
    while (end < text_.size()) {
      char c = text_[end];
      bool sign = (c == '+' || c == '-') &&
                  std::string_view("eEpP").find(text_[end - 1]) != std::string_view::npos;
      bool hex = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
      if (sign && hex && (text_[end - 1] == 'e' || text_[end - 1] == 'E')) sign = false;
      if (!continues_identifier(c) && c != '.' && c != '\'' && !sign) break;
      ++end;
    }
    take(TokenKind::number, end);
  }

  // If a quote is not closed in its line, it ends with the line.
  void take_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, text_.size());
    bool string = quote == '"';
    std::string body(2, quote);
    if (string && with_prose_) body = unescaped(text_.substr(at_ + 1, end - at_ - 1));
    tokens_.push_back({string ? TokenKind::string : TokenKind::character, std::move(body), line_});
    skip_to(end < text_.size() && text_[end] == quote ? end + 1 : end);
  }

  std::string_view text_;
  bool with_prose_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text, false).run(); }

std::vector<Token> tokens_and_prose_of(std::string_view text) { return Lexer(text, true).run(); }

}  // namespace belay::tidy
