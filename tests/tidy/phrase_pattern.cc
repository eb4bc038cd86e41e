#include "tests/tidy/phrase_pattern.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace belay::tidy {
namespace {

using Words = std::vector<std::string>;
using Sequences = std::vector<Words>;

bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '\'' || c == '-' || c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Sequences> run() {
    Sequences all = alternatives();
    if (!is_valid_ || at_ != text_.size()) return std::nullopt;
    bool has_empty = std::any_of(all.begin(), all.end(), [](const Words& w) { return w.empty(); });
    if (has_empty) return std::nullopt;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

 private:
  Sequences alternatives() {
    Sequences all = sequence();
    while (peek() == '|') {
      ++at_;
      Sequences more = sequence();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  Sequences sequence() {
    Sequences all = {{}};
    bool has_items = false;
    while (is_valid_ && peek() != '\0' && peek() != '|' && peek() != ')') {
      if (peek() == ' ') {
        ++at_;
        continue;
      }
      has_items = true;
      all = joined(all, item());
    }
    is_valid_ = is_valid_ && has_items;
    return all;
  }

  Sequences item() {
    if (peek() == '(') return group();
    if (text_.substr(at_, kAnyWord.size()) == kAnyWord) {
      at_ += kAnyWord.size();
      return {{std::string(kAnyWord)}};
    }
    std::size_t end = at_;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    std::string word(text_.substr(at_, end - at_));
    at_ = end;
    // "give( it)? back" has its space inside; "say(s)?" would be part of a word.
    bool is_split = peek() == '(' && text_.substr(at_, 2) != "( ";
    is_valid_ = is_valid_ && !word.empty() && !is_split;
    return {{word}};
  }

  Sequences group() {
    ++at_;
    Sequences all = alternatives();
    is_valid_ = is_valid_ && peek() == ')';
    if (!is_valid_) return all;
    bool ends_with_space = text_[at_ - 1] == ' ';
    ++at_;
    if (peek() == '?') {
      ++at_;
      all.emplace_back();
    }
    is_valid_ = ends_with_space || !continues_word(peek());
    return all;
  }

  static Sequences joined(const Sequences& heads, const Sequences& tails) {
    Sequences all;
    for (const Words& head : heads) {
      for (const Words& tail : tails) {
        all.push_back(head);
        all.back().insert(all.back().end(), tail.begin(), tail.end());
      }
    }
    return all;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_valid_ = true;
};

}  // namespace

std::optional<Sequences> expand_pattern(std::string_view pattern) { return Parser(pattern).run(); }

}  // namespace belay::tidy
