#include "agents/rules/statement.h"

#include <algorithm>
#include <array>

namespace belay::rules {
namespace {

constexpr std::size_t kDenialReach = 3;
constexpr std::size_t kPersonReach = 8;
constexpr std::size_t kTimeReach = 14;

constexpr auto kDenials = std::to_array<std::string_view>(
    {"not", "no", "never", "nor", "nunca", "jamas", "tampoco", "ni", "sin", "without"});
constexpr auto kWriter = std::to_array<std::string_view>(
    {"i", "me", "my", "myself", "yo", "mi", "conmigo", "quiero", "quisiera", "pienso", "pense",
     "voy", "deseo", "necesito", "puedo", "estoy", "soy", "tengo"});
constexpr auto kOthers = std::to_array<std::string_view>(
    {"he",     "she",     "they",    "who",      "him",     "her",   "his",   "their",
     "friend", "brother", "sister",  "client",   "patient", "ella",  "ellos", "ellas",
     "su",     "dice",    "dijo",    "quiere",   "queria",  "amigo", "amiga", "hermano",
     "primo",  "prima",   "hermana", "pelicula", "novela",  "film",  "novel", "movie"});
constexpr auto kNobody =
    std::to_array<std::string_view>({"suicide", "suicidio", "suicidarse", "matarse", "self"});
constexpr auto kLongAgo = std::to_array<std::string_view>(
    {"ago", "used", "once", "back", "years", "anos", "años", "entonces", "antes"});

class Context {
 public:
  Context(std::string_view text, const Words& words) : text_(text), words_(words) {}

  bool denied(std::size_t first) const {
    for (std::size_t at = first; at > 0 && at + kDenialReach > first; --at) {
      if (words_.tokens[at].pause_before) return false;
      if (has(kDenials, word(at - 1))) return true;
    }
    return false;
  }

  // Returns whether the nearest person before the end of the phrase is another one.
  bool about_another(std::size_t first, std::size_t limit) const {
    bool nameless = false;
    for (std::size_t at = first; at < limit; ++at) {
      if (has(kWriter, word(at)) || word(at).ends_with("me")) return false;
      nameless = nameless || has(kNobody, word(at));
    }
    for (std::size_t at = first; at > 0 && at + kPersonReach > first; --at) {
      if (ends_sentence(at)) break;
      if (has(kOthers, word(at - 1))) return true;
      if (has(kWriter, word(at - 1))) return false;
    }
    return nameless;
  }

  bool long_ago(std::size_t first, std::size_t limit) const {
    const std::size_t from = first < kTimeReach ? 0 : first - kTimeReach;
    const std::size_t to = std::min(words_.tokens.size(), limit + kTimeReach);
    for (std::size_t at = first; at > from && !ends_sentence(at); --at) {
      if (has(kLongAgo, word(at - 1))) return true;
    }
    for (std::size_t at = limit; at < to && !ends_sentence(at); ++at) {
      if (has(kLongAgo, word(at))) return true;
    }
    return false;
  }

 private:
  std::string_view word(std::size_t at) const { return words_.vocabulary[words_.tokens[at].word]; }

  // Returns whether a sentence ends before this token.
  bool ends_sentence(std::size_t at) const {
    if (at == 0 || !words_.tokens[at].pause_before) return at == 0;
    const std::size_t begin = words_.tokens[at - 1].span.end;
    const auto gap = text_.substr(begin, words_.tokens[at].span.begin - begin);
    return gap.find_first_of(".!?\n") != gap.npos || gap.find("\u2026") != gap.npos;
  }

  std::string_view text_;
  const Words& words_;
};

}  // namespace

QuotationMarks::QuotationMarks(std::string_view text) {
  constexpr std::array<std::string_view, 5> kMarks = {"\"", "\u00AB", "\u00BB", "\u201C", "\u201D"};
  for (const std::string_view mark : kMarks) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
      starts_.push_back(at);
    }
  }
  std::sort(starts_.begin(), starts_.end());
}

std::size_t QuotationMarks::before(std::size_t offset) const {
  const auto end = std::lower_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<std::size_t>(end - starts_.begin());
}

bool is_statement(std::string_view text, const Words& words, const QuotationMarks& marks,
                  std::size_t first, std::size_t limit) {
  const Context context(text, words);
  if (context.denied(first) || context.about_another(first, limit)) return false;
  if (context.long_ago(first, limit)) return false;
  const std::size_t after = marks.count() - marks.before(words.tokens[limit - 1].span.end);
  return marks.before(words.tokens[first].span.begin) % 2 == 0 || after == 0;
}

}  // namespace belay::rules
